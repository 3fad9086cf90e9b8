import { ConfigError, getMessage } from '../../lib/errors.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { listenForStop, untilAborted } from '../stop-signal.ts';
import { withRuntime } from '../with-runtime.ts';

/** `backhaul serve`: the bundled API with its data, the queue dashboard and the schedules, until stopped. */
export async function serve(context: CommandContext): Promise<ExitCode> {
  const { terminal, settings } = context;
  if (settings.apiUrl !== undefined) {
    throw new ConfigError(
      `BACKHAUL_API_URL says that the bundled API runs at ${settings.apiUrl}. Unset it to run the API here.`,
    );
  }
  return withRuntime(context, true, async (runtime) => {
    const { bundled, failed } = runtime;
    if (!bundled) throw new Error('the bundled API did not start');
    const schedules = await runtime.startSchedules({ importHere: true });
    const stop = listenForStop(terminal, '');
    terminal.data(
      {
        url: bundled.url,
        migrations: `${bundled.url}/`,
        queues: `${bundled.url}/queues`,
        dataDir: settings.dataDir,
      },
      () =>
        [
          `API        ${bundled.url}`,
          `Migrations ${bundled.url}/`,
          `Queues     ${bundled.url}/queues`,
          `Keys       ${settings.dataDir}/keys.json (projectKey sends, personalKey reads, queuesPassword opens migrations and queues for user ${bundled.queues.user})`,
        ].join('\n'),
    );
    terminal.info('Ctrl-C stops it.');
    await untilAborted(AbortSignal.any([stop.signal, failed]));
    await schedules.close();
    stop.dispose();
    if (failed.aborted)
      throw new StoppedError(
        `${getMessage(failed.reason)} The data is kept. Start it again with: backhaul serve`,
      );
    return EXIT.done;
  });
}

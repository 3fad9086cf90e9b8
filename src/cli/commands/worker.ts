import { findRunningRedis, runsBundledApi } from '../../embedded/supervisor.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { startHealthServer } from '../../runtime/health-server.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { listenForStop, untilAborted } from '../stop-signal.ts';
import { withRuntime } from '../with-runtime.ts';

/** `backhaul worker`: joins the fleet; SIGTERM finishes the batch, saves, hands the jobs back. */
export async function worker(
  { settings, env, terminal, log }: CommandContext,
  options: { concurrency?: string },
): Promise<ExitCode> {
  const concurrency =
    options.concurrency === undefined ? settings.workerConcurrency : Number(options.concurrency);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 64) {
    throw new ConfigError(`--concurrency takes a whole number from 1 to 64, not "${options.concurrency}"`);
  }
  if (!settings.redisUrl && !(await findRunningRedis(settings.dataDir))) {
    throw new ConfigError(
      `no run to join: nothing runs in ${settings.dataDir}. Start "backhaul run" or "backhaul serve" there first, or set REDIS_URL to the fleet's Redis`,
    );
  }
  const context = { settings, env, terminal, log };
  const api = settings.apiUrl !== undefined || (await runsBundledApi(settings.dataDir));
  return withRuntime(context, api, async (runtime) => {
    const health = await startHealthServer(settings, runtime);
    const workers = await runtime.startWorkers({ concurrency });
    const schedules = await runtime.startSchedules({ importHere: false });
    const stop = listenForStop(terminal, 'Stopped; jobs were handed back.');
    terminal.info(
      `Worker ${process.pid} imports up to ${concurrency} parts at once. Ctrl-C hands them back.`,
    );
    await untilAborted(AbortSignal.any([stop.signal, runtime.failed]));
    await Promise.all([schedules.close(), workers.close()]);
    health.close();
    stop.dispose();
    if (runtime.failed.aborted) {
      throw new StoppedError(
        `${getMessage(runtime.failed.reason)} This worker has ended; what it had not delivered is for the others. Join again with: backhaul worker`,
      );
    }
    return EXIT.done;
  });
}

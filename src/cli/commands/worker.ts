import { startWorkers } from '../../../jobs/start-workers.ts';
import { findRunningRedis, runsBundledApi } from '../../embedded/supervisor.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { createRuntimeMigrations } from '../../runtime/open-migration.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { stopSignal, untilAborted } from '../stop-signal.ts';
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
  return withRuntime(context, await runsBundledApi(settings.dataDir), async (site) => {
    const migrations = createRuntimeMigrations(site);
    const workers = startWorkers(site, migrations, concurrency);
    const stop = stopSignal(terminal, 'Stopped; jobs were handed back.');
    terminal.say(`Worker ${process.pid} takes up to ${concurrency} parts at once. Ctrl-C hands them back.`);
    await untilAborted(AbortSignal.any([stop.signal, site.failed]));
    await workers.close();
    await migrations.close();
    stop.dispose();
    if (site.failed.aborted) {
      throw new StoppedError(
        `${getMessage(site.failed.reason)} This worker has ended; what it had not delivered is for the others. Join again with: backhaul worker`,
      );
    }
    return EXIT.done;
  });
}

import { once } from 'node:events';
import { startWorkers } from '../../../jobs/start-workers.ts';
import { ConfigError } from '../../errors.ts';
import { findRunningRedis, runsBundledApi } from '../../supervise/supervisor.ts';
import { openSite } from '../../wire.ts';
import { openMigrationsOf } from '../../wire-migrations.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { stopSignal } from '../stop-signal.ts';

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
  const site = await openSite(settings, env, { api: await runsBundledApi(settings.dataDir) }, log);
  const migrations = openMigrationsOf(site);
  const workers = startWorkers(site, migrations, concurrency);
  const stop = stopSignal(terminal, 'Stopped; jobs were handed back.');
  terminal.say(`Worker ${process.pid} takes up to ${concurrency} parts at once. Ctrl-C hands them back.`);
  const signal = AbortSignal.any([stop.signal, site.failed]);
  if (!signal.aborted) await once(signal, 'abort');
  await workers.close();
  await migrations.close();
  await site.close();
  stop.dispose();
  return EXIT.done;
}

import { awaitBundledApi, findRunningRedis, runsBundledApi } from '../../embedded/supervisor.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { startHealthServer } from '../../runtime/health-server.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { createStopSignal, type StopSignal, untilAborted } from '../stop-signal.ts';
import { withRuntime } from '../with-runtime.ts';

/** `backhaul worker`: joins the fleet; SIGTERM finishes the batch, saves, hands the jobs back. */
export async function worker(context: CommandContext, options: { concurrency?: string }): Promise<ExitCode> {
  const { settings, terminal } = context;
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
  const stop = createStopSignal(terminal);
  try {
    while ((await work(context, concurrency, stop)) === 'join again');
    return EXIT.done;
  } finally {
    stop.dispose();
  }
}

/**
 * Works until it is stopped. Where REDIS_URL names the fleet's Redis, the bundled API of the data folder may be started
 * after the worker, and end before it: the worker joins again then, as migrations may go there.
 */
async function work(
  context: CommandContext,
  concurrency: number,
  stop: StopSignal,
): Promise<'stopped' | 'join again'> {
  const { settings, terminal } = context;
  const log = await context.openLog();
  const api = settings.apiUrl !== undefined || (await runsBundledApi(settings.dataDir));
  return withRuntime(context, api, async (runtime) => {
    const health = await startHealthServer(settings, runtime);
    const workers = await runtime.startWorkers({ concurrency });
    const schedules = await runtime.startSchedules({ importHere: false });
    stop.listen('Stopped; jobs were handed back.');
    terminal.info(
      `Worker ${process.pid} imports up to ${concurrency} parts at once. Ctrl-C hands them back.`,
    );
    const ended = new AbortController();
    const appeared = api ? undefined : awaitBundledApi(settings.dataDir, ended.signal);
    const stopped = untilAborted(AbortSignal.any([stop.signal, runtime.failed]));
    try {
      await Promise.race(appeared ? [stopped, appeared] : [stopped]);
    } finally {
      ended.abort();
      appeared?.catch(() => {});
      await Promise.all([schedules.close(), workers.close()]);
      health.close();
    }
    if (stop.signal.aborted) return 'stopped';
    if (!runtime.failed.aborted) {
      log.info({ dataDir: settings.dataDir }, 'the bundled API of the data folder runs now: joining again');
    } else if (settings.redisUrl !== undefined) {
      log.warn({ reason: getMessage(runtime.failed.reason) }, 'joining again, without the bundled API');
    } else {
      throw new StoppedError(
        `${getMessage(runtime.failed.reason)} This worker has ended; what it had not delivered is for the others. Join again with: backhaul worker`,
      );
    }
    return 'join again';
  });
}

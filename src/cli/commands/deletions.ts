import { runsBundledApi } from '../../embedded/supervisor.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { callApi } from '../call-api.ts';
import { commandLine } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { renderList } from '../render/render-list.ts';
import { number } from '../render/render-status.ts';
import { listenForStop } from '../stop-signal.ts';
import { type Deletions, watchDeletions } from '../watch-deletions.ts';
import { withBundled, withRuntime } from '../with-runtime.ts';

const MAX_LISTED = 1000;

/** `backhaul deletions ls`: newest first. */
export async function listDeletions(
  context: CommandContext,
  options: { state?: string; limit: string },
): Promise<ExitCode> {
  const { terminal } = context;
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED) {
    throw new ConfigError(`--limit takes a whole number from 1 to ${MAX_LISTED}, not "${options.limit}"`);
  }
  const query = new URLSearchParams({ limit: String(limit) });
  if (options.state !== undefined) query.set('state', options.state);
  const { count, results } = await withBundled(context, (api) =>
    callApi<Deletions>(api, { path: `/api/deletions/?${query.toString()}` }),
  );
  const header = ['id', 'state', 'queued', 'person', 'ids', 'events deleted', ''];
  terminal.data({ count, results }, () =>
    results.length === 0
      ? 'There are no deletions.'
      : renderList(
          header,
          results.map((each) => [
            String(each.id),
            each.state,
            each.created_at.slice(0, 16).replace('T', ' '),
            each.person_uuid,
            each.distinct_id_count,
            each.deleted_events,
            each.last_error ?? '',
          ]),
        ),
  );
  if (count > results.length)
    terminal.info(`… and ${number(count - results.length)} more; see --limit and --state`);
  return EXIT.done;
}

/** `backhaul deletions run`: starts the deletion job and watches it to its end. */
export async function runDeletions(context: CommandContext): Promise<ExitCode> {
  const { terminal, settings } = context;
  const again = commandLine(context, 'deletions run');
  const apiRunsAlready = await runsBundledApi(settings.dataDir);
  return withRuntime(context, true, async ({ bundled, failed }) => {
    if (!bundled) throw new Error('the bundled API did not start');
    const stop = listenForStop(
      terminal,
      apiRunsAlready
        ? `Stopped watching; the API still runs the job. See it with: ${commandLine(context, 'deletions ls')}`
        : `Stopped, and the API that this command had started with it. The job continues when the API runs again, or with: ${again}`,
    );
    try {
      const end = await watchDeletions(bundled, terminal, AbortSignal.any([stop.signal, failed]));
      terminal.endStatus();
      terminal.data(end, () => {
        const left = end.open === 0 ? '' : ` Still open: ${number(end.open)}.`;
        return `Deletions verified: ${number(end.verified)}. Events deleted: ${number(end.deleted_events)}.${left}`;
      });
      if (end.state === 'completed') return EXIT.done;
      terminal.info(
        `The job failed: ${end.reason}. What is deleted stays deleted. Once the cause is removed: ${again}`,
      );
      return EXIT.failed;
    } catch (error) {
      terminal.endStatus();
      if (failed.aborted) throw new StoppedError(`${getMessage(failed.reason)} Continue with: ${again}`);
      if (error instanceof StoppedError || error instanceof ConfigError) throw error;
      throw new StoppedError(`${getMessage(error).replace(/\.$/, '')}. Continue with: ${again}`);
    } finally {
      stop.dispose();
    }
  });
}

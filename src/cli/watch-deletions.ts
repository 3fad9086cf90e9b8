import { waitFor } from '../lib/async/abort.ts';
import { ConfigError } from '../lib/errors.ts';
import type { BundledApi } from '../runtime/runtime.ts';
import { callApi } from './call-api.ts';
import { number } from './render/render-status.ts';
import type { Terminal } from './terminal.ts';

/** One page as the API lists deletions. */
export interface Deletions {
  readonly count: number;
  /** Of all that match. */
  readonly deleted_events: number;
  readonly results: readonly {
    readonly id: number;
    readonly person_uuid: string;
    readonly distinct_id_count: number;
    readonly state: string;
    readonly created_at: string;
    readonly deleted_events: number;
    readonly last_error: string | null;
  }[];
}

interface Run {
  readonly job_id: string;
  readonly state: 'waiting' | 'active' | 'retrying' | 'completed' | 'failed';
  readonly reason: string | null;
}

export interface DeletionsEnd extends Run {
  /** Since the watching began. */
  readonly verified: number;
  readonly deleted_events: number;
  /** Not verified now. */
  readonly open: number;
}

const POLL_EVERY_MS = 1_000;
/** An API that dies is restarted, and a limit of requests passes: only longer silence is an error. */
const SILENT_FOR_MS = 90_000;

/** Starts the deletion job and watches it to its end. When watching ends early, the job stays in the queue. */
export async function watchDeletions(
  api: Pick<BundledApi, 'url' | 'personalKey'>,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<DeletionsEnd> {
  const count = async () => {
    const open = await callApi<Deletions>(api, { path: '/api/deletions/?state=open&limit=1' });
    const all = await callApi<Deletions>(api, { path: '/api/deletions/?limit=1' });
    return { open: open.count, verified: all.count - open.count, events: all.deleted_events };
  };
  const before = await count();
  let run = await callApi<Run>(api, { method: 'POST', path: '/api/deletions/run/' });
  let lastResponseMs = performance.now();
  for (;;) {
    try {
      // The state comes first: what is counted after the end is complete.
      run = await callApi<Run>(api, { path: `/api/deletions/run/${run.job_id}/` });
      const now = await count();
      lastResponseMs = performance.now();
      const done = { verified: now.verified - before.verified, deleted_events: now.events - before.events };
      terminal.status(() => renderLine(run, now.open, done));
      if (run.state === 'completed' || run.state === 'failed') return { ...run, ...done, open: now.open };
    } catch (error) {
      if (error instanceof ConfigError || performance.now() - lastResponseMs > SILENT_FOR_MS) throw error;
    }
    await waitFor(POLL_EVERY_MS, signal);
  }
}

function renderLine(run: Run, open: number, done: { verified: number; deleted_events: number }): string {
  const retry = run.state === 'retrying' && run.reason !== null ? ` · retried after: ${run.reason}` : '';
  const hold = run.state === 'waiting' && run.reason !== null ? ` ${run.reason}` : '';
  return `deletions ${run.state}${hold} · ${number(done.verified)} verified, ${number(open)} open · ${number(done.deleted_events)} events deleted${retry}`;
}

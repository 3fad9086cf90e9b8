import { createHash } from 'node:crypto';
import type { RecordCounts } from '../../contract/progress.ts';
import type { Control } from '../../state/control.ts';
import type { ScheduledRun } from '../../state/schedules/runs.ts';

/** What is told, before it is signed. */
export interface Message {
  /** The same for the same state, whoever tells it and however often. */
  readonly id: string;
  readonly body: string;
}

export interface StateFacts {
  readonly migration: string;
  readonly migrationId: string;
  readonly destination: string;
  readonly number: number;
  readonly control: Control;
  /** Of the epoch that wrote the state; undefined where there is none. */
  readonly report: { readonly counts: RecordCounts; readonly isFailed: boolean } | undefined;
  readonly tooManyRejects: boolean;
}

/** Undefined where there is nothing to tell. */
export function toStateMessage(facts: StateFacts): Message | undefined {
  const { migration, migrationId, destination, number, control, report } = facts;
  const kind = toKind(facts);
  if (kind === undefined) return undefined;
  const isStop = kind.type === 'migration.stopped';
  const reason = control.reason === '' ? '' : isStop ? `: ${control.reason}` : ` (${control.reason})`;
  const counts = report && kind.withCounts ? `: ${describeCounts(report.counts)}` : '';
  return {
    id: `${migrationId}_${number}`,
    body: JSON.stringify({
      type: kind.type,
      timestamp: control.at,
      text: `Migration ${migration} to ${destination} ${kind.text}${counts}${reason}`,
      data: {
        migration,
        migrationId,
        destination,
        state: control.state,
        number,
        reason: control.reason,
        ...(report && kind.withCounts ? { counts: report.counts } : {}),
      },
    }),
  };
}

interface Kind {
  readonly type: string;
  readonly text: string;
  readonly withCounts?: boolean;
}

function toKind({ control, number, report, tooManyRejects }: StateFacts): Kind | undefined {
  switch (control.state) {
    case 'running':
      return number === 1
        ? { type: 'migration.started', text: 'has started' }
        : { type: 'migration.continued', text: 'continues' };
    case 'stopped':
      return report?.isFailed
        ? { type: 'migration.failed', text: 'has failed', withCounts: true }
        : { type: 'migration.stopped', text: 'has stopped' };
    case 'paused':
      return { type: 'migration.paused', text: 'is paused' };
    case 'cancelled':
      return { type: 'migration.cancelled', text: 'is cancelled' };
    case 'finished':
      return tooManyRejects
        ? {
            type: 'migration.rejects_above_threshold',
            text: 'has finished, with more rejects than its manifest allows',
            withCounts: true,
          }
        : { type: 'migration.finished', text: 'has finished', withCounts: true };
    case 'removed':
    case 'moved':
    case 'importing':
      return undefined;
  }
}

const describeCounts = ({ read, delivered, rejected }: RecordCounts): string =>
  [`${number(read)} records read`, `${number(delivered)} delivered`, `${number(rejected)} rejected`].join(
    ', ',
  );

const number = (value: number): string => value.toLocaleString('en-US');

/** Of so many failures in a row somebody is told; one may be chance. */
const FAILURES_TOLD = 3;

/** What became of runs that were missed. */
const THEN: Readonly<Record<ScheduledRun['outcome'], string>> = {
  done: 'made up for',
  nothing_new: 'made up for',
  busy: 'another process runs the migration',
  unable: 'no process could run what was due',
  held: 'what is new waits, as the migration is held',
  failed: 'what came then failed',
};

/** Undefined where the run of a schedule is as it should be. */
export function toRunMessage(migration: string, number: number, run: ScheduledRun): Message | undefined {
  const isFailing = run.outcome === 'failed' && run.failures === FAILURES_TOLD;
  if (!isFailing && run.missed === 0) return undefined;
  const count = `${run.missed} ${run.missed === 1 ? 'run was' : 'runs were'} missed`;
  const missed = run.outcome === 'unable' ? `${count} since ${run.due}` : `${count} before ${run.due}`;
  const why = run.outcome === 'unable' ? ` (${run.reason})` : '';
  const text = isFailing
    ? `The schedule of migration ${migration} has failed ${run.failures} times in a row (${run.reason})`
    : `The schedule of migration ${migration}: ${missed}, and ${THEN[run.outcome]}${why}`;
  // Of use to the next run alone, and perhaps long.
  const { ahead: _, ...told } = run;
  // A schedule has no id of its own, and its name may come again.
  const of = createHash('sha256')
    .update(`${migration} ${number} ${run.startedAt}`)
    .digest('hex')
    .slice(0, 32);
  return {
    id: `schedule_${of}`,
    body: JSON.stringify({
      type: isFailing ? 'schedule.failing' : 'schedule.missed',
      timestamp: run.endedAt,
      text,
      data: { migration, number, ...told },
    }),
  };
}

import type { RecordCounts } from '../../contract/progress.ts';
import { groupDigits } from '../../lib/group-digits.ts';
import type { HalfImported } from '../../state/archive/imports.ts';
import type { Control } from '../../state/control.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import type { Progress } from '../../state/progress-note.ts';
import { type ShownState, toShownState, toState } from '../lifecycle.ts';
import type { WebhookTrouble } from '../notify/find-trouble.ts';
import type { RejectsLeft } from '../rejects/rejects-left.ts';
import type { Report } from '../report/report.ts';
import type { KeptVerification } from '../verify/kept.ts';
import { type ErrorView, listErrors } from './errors.ts';
import { type HeatMap, toHeatMap } from './heat-map.ts';
import type { Terms } from './terms.ts';
import { type FileTotals, type Totals, toOutcome } from './totals.ts';

/** What staging and the lease say of a migration. */
export interface StatusFacts {
  readonly record: Pick<MigrationRecord, 'name' | 'createdAt' | 'destination' | 'mapping' | 'replays'> & {
    readonly files: readonly { readonly bytes: number }[];
  };
  readonly control: Control | undefined;
  /** Whether a producer holds the lease; undefined where Redis does not answer. */
  readonly isLeased: boolean | undefined;
  readonly note: Progress | undefined;
  readonly totals: Totals;
  /** Absent where the webhook knows the newest state, or was not to be told. */
  readonly webhook?: WebhookTrouble | undefined;
  /** Files of a finished migration that no run has staged: a top-up has noted them. @default 0 */
  readonly unstaged?: number;
}

/** What the list shows of a migration. */
export interface MigrationStatus {
  readonly migration: string;
  /** `damaged`: staging holds something else than was written there. */
  readonly state: ShownState | 'damaged';
  /** Why it is in that state; empty where there is nothing to add. */
  readonly reason: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** When it entered its state, ISO 8601. */
  readonly since: string;
  /** Address without credentials, or `bundled API`. */
  readonly destination: string;
  readonly parts: { readonly done: number; readonly staged: number };
  readonly records: { readonly staged: number };
  readonly counts: RecordCounts;
  /** Accepted by the destination. */
  readonly events: number;
  /** `source`: of its files as they are stored. `staged` and `imported`: of its parts, unpacked. */
  readonly bytes: { readonly source: number; readonly staged: number; readonly imported: number };
  /** What its producer is doing; undefined unless it runs. */
  readonly run?: RunProgress;
  /** Present where the webhook could not be told of the newest state. */
  readonly webhook?: WebhookTrouble;
}

export interface RunProgress {
  readonly phase: NonNullable<Progress['phase']>;
  readonly recordsPerSecond: number;
  /** Undefined while it is not known. */
  readonly secondsLeft?: number;
  /** What is waited for, and why: what is down, or the budget. */
  readonly waitingFor?: string;
  /** Ranges of persons and groups. */
  readonly personJobs?: { readonly done: number; readonly total: number };
}

/** Everything that is known of one migration. */
export interface MigrationView extends MigrationStatus {
  readonly mapping: string;
  readonly replays?: string;
  readonly terms: Terms;
  /** Of the source. */
  readonly files: number;
  /** Events that were accepted, by interval. Absent before the first, and of runs of earlier versions. */
  readonly throughput?: {
    readonly fromMs: number;
    readonly stepMs: number;
    readonly events: readonly number[];
  };
  readonly reasons: readonly ReasonView[];
  /** Who has replayed its rejects, and how many are left. Absent where nobody has. */
  readonly replayed?: RejectsLeft;
  readonly heatMap: HeatMap;
  /** What ended or held runs, and what failed in the last one. */
  readonly errors: readonly ErrorView[];
  /** Its states, newest first. */
  readonly history: readonly { readonly state: string; readonly at: string; readonly reason: string }[];
  /** Of the last run, once it has ended. */
  readonly report?: Report;
  /** The last comparison with the destination, once it has ended. */
  readonly verification?: KeptVerification;
}

export interface ReasonView {
  readonly outcome: 'skipped' | 'duplicate' | 'rejected';
  readonly reason: string;
  readonly count: number;
  /** Of rejected records: the first few that were found. */
  readonly samples: readonly RejectSample[];
}

export interface RejectSample {
  /** File and line. */
  readonly place: string;
  readonly detail: string;
  /** The start of the record. */
  readonly text: string;
}

export interface ViewFacts extends StatusFacts {
  readonly samples: ReadonlyMap<string, readonly RejectSample[]>;
  readonly history: readonly Control[];
  readonly report: Report | undefined;
  readonly verification: KeptVerification | undefined;
  readonly terms: Terms;
  readonly replayed?: RejectsLeft | undefined;
}

/** Whether the state asks for the lease: a migration that should run and has no producer is interrupted. */
export const shouldRun = (control: Control | undefined): boolean =>
  toShownState(toState({}, control), false) === 'interrupted';

export function toMigrationStatus({
  record,
  control,
  isLeased,
  note,
  totals,
  webhook,
  unstaged = 0,
}: StatusFacts): MigrationStatus {
  const state = unstaged > 0 ? 'interrupted' : toShownState(toState(record, control), isLeased);
  // Workers may have finished parts after the producer's last note.
  const newest = note !== undefined && note.read > totals.counts.read ? note : undefined;
  const run = state === 'running' ? toRun(note) : undefined;
  const { parts, records, bytes } = state === 'removed' ? keepCounts(totals) : totals;
  return {
    migration: record.name,
    state,
    reason: unstaged > 0 ? explainUnstaged(unstaged) : (REASONS[state] ?? control?.reason ?? ''),
    createdAt: record.createdAt,
    since: control?.at ?? record.createdAt,
    destination: record.destination,
    parts,
    records,
    counts: newest ? pickCounts(newest) : totals.counts,
    events: Math.max(totals.events, note?.events ?? 0),
    bytes: { source: record.files.reduce((sum, { bytes }) => sum + bytes, 0), ...bytes },
    ...(run ? { run } : {}),
    ...(webhook ? { webhook } : {}),
  };
}

/** Of a removed migration, whose descriptions of parts are gone: its receipts say what there was. */
const keepCounts = ({
  parts: { done },
  counts,
  bytes,
}: Totals): Pick<Totals, 'parts' | 'records' | 'bytes'> => ({
  parts: { done, staged: done },
  records: { staged: counts.read },
  bytes,
});
const keepDone = (file: FileTotals): FileTotals => ({
  ...file,
  parts: { done: file.parts.done, staged: file.parts.done },
});

const REASONS: Readonly<Partial<Record<ShownState, string>>> = {
  interrupted: 'no process runs it: the one that did was killed, or could not write why it ended',
  removed: 'what it kept of its export is gone; its counts stay, and the report of its last run',
  unknown: 'Redis does not answer, or takes no writes, so nobody can say whether a process runs it',
};

const explainUnstaged = (files: number): string =>
  `${files === 1 ? '1 file is' : `${groupDigits(files)} files are`} not staged: a top-up ended before it began with them, or what was staged of them is gone`;

/** Of a migration that cannot be read, so that the others are shown all the same. */
export const toDamagedStatus = (name: string, reason: string): MigrationStatus => ({
  ...toEmptyStatus(name),
  state: 'damaged',
  reason,
});

/** Of a migration whose import ended before its record was there. */
export const toHalfImportedStatus = ({ name, reason, at }: HalfImported): MigrationStatus => ({
  ...toEmptyStatus(name),
  state: 'importing',
  reason,
  since: at,
});

const toEmptyStatus = (name: string): Omit<MigrationStatus, 'state' | 'reason'> => ({
  migration: name,
  createdAt: '',
  since: '',
  destination: '',
  parts: { done: 0, staged: 0 },
  records: { staged: 0 },
  counts: { read: 0, delivered: 0, skipped: 0, duplicate: 0, rejected: 0 },
  events: 0,
  bytes: { source: 0, staged: 0, imported: 0 },
});

export function toMigrationView(facts: ViewFacts): MigrationView {
  const { record, note, totals, samples, history, report, verification, terms, replayed } = facts;
  const status = toMigrationStatus(facts);
  const byReason = report ? Object.entries(report.byReason) : [...totals.byReason];
  return {
    ...status,
    mapping: record.mapping,
    ...(record.replays === undefined ? {} : { replays: record.replays }),
    terms,
    files: record.files.length,
    ...(note?.throughput ? { throughput: note.throughput } : {}),
    reasons: byReason
      .map(([reason, count]) => ({
        outcome: toOutcome(reason),
        reason,
        count,
        samples: samples.get(reason) ?? [],
      }))
      .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)),
    ...(replayed ? { replayed } : {}),
    heatMap: toHeatMap(status.state === 'removed' ? totals.files.map(keepDone) : totals.files),
    errors: listErrors(history, report),
    history: history.map(({ state, at, reason }) => ({ state, at, reason })),
    ...(report ? { report } : {}),
    ...(verification ? { verification } : {}),
  };
}

/** Undefined where version 0.1.0 wrote the note. */
function toRun(note: Progress | undefined): RunProgress | undefined {
  if (note?.phase === undefined) return undefined;
  const { phase, recordsPerSecond = 0, secondsLeft, personJobs } = note;
  const waitingFor = note.waitingFor ?? (note.heldByBudget ? describeBudget(note) : undefined);
  return {
    phase,
    recordsPerSecond,
    ...(secondsLeft === undefined ? {} : { secondsLeft }),
    ...(waitingFor === undefined ? {} : { waitingFor }),
    ...(personJobs === undefined ? {} : { personJobs }),
  };
}

const describeBudget = ({ eventsPerMinute }: Progress) =>
  `the budget of ${groupDigits(eventsPerMinute ?? 0)} events a minute`;

const pickCounts = ({ read, delivered, skipped, duplicate, rejected }: Progress): RecordCounts => ({
  read,
  delivered,
  skipped,
  duplicate,
  rejected,
});

import { PART_MAX_RECORDS } from '../../contract/part.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { areStagedRejects, toStagedName } from '../../pipeline/stage/stage-rejects.ts';
import { loadControl } from '../../state/control.ts';
import { layout, parseReceiptKey, parseSliceId } from '../../state/keys.ts';
import {
  createIsOwnSlice,
  listMigrations,
  loadMigration,
  type MigrationRecord,
} from '../../state/migrations.ts';
import { listOrigins } from '../../state/rejects/origins.ts';
import { isReplayNameOf } from '../derived-name.ts';
import { type State, toState } from '../lifecycle.ts';
import { loadStoredReport } from '../report/report.ts';
import { isFinished } from '../report.ts';

/** A replay of the rejects of a migration. */
export interface Replay {
  readonly record: MigrationRecord;
  readonly state: State;
}

/** Which rejects of a migration its replays have in their own books. */
export interface Replayed {
  /** In the order in which they were begun. */
  readonly replays: readonly Replay[];
  /** Cancelled ones with parts that have no receipt: what is in these is left to be replayed. */
  readonly unfinished: readonly string[];
  /** The last replay that took a reject, by name. */
  find(line: Pick<RejectLine, 'part' | 'record' | 'file' | 'reason' | 'idFrom'>): string | undefined;
}

type Named = Pick<MigrationRecord, 'id' | 'name'>;

/** The replays of a migration, and of no other that had its name before; not the replays of these. */
export async function listReplays(staging: Staging, { id, name }: Named): Promise<Replay[]> {
  const found: Replay[] = [];
  for (const each of await listMigrations(staging)) {
    if (!isReplayNameOf(each, name)) continue;
    const record = await loadMigration(staging, each);
    if (!record || !areStagedRejects(record.files)) continue;
    // Version 0.1.0 did not say of which migration.
    if ((record.replays ?? name) !== name || (record.replaysId ?? id) !== id) continue;
    found.push({ record, state: toState(record, await loadControl(staging, each)) });
  }
  const inOrder = new Intl.Collator('en', { numeric: true });
  return found.sort((a, b) => inOrder.compare(a.record.name, b.record.name));
}

/**
 * A reject is in the books of a replay that holds it, whatever that one made of it: while the replay can be continued
 * with all of its parts, and once it was given up with those that have their receipts. Throws SourceError.
 */
export async function loadReplayed(staging: Staging, migration: Named): Promise<Replayed> {
  const replays = await listReplays(staging, migration);
  const taken = new Map<string, Uint16Array>();
  const unfinished: string[] = [];
  const older: ((line: Parameters<Replayed['find']>[0]) => string | undefined)[] = [];
  for (const [index, { record, state }] of replays.entries()) {
    const { name } = record;
    const isGivenUp = state === 'cancelled' || state === 'removed';
    const finished = isGivenUp ? await listFinishedParts(staging, name) : undefined;
    let hasOrigins = false;
    let isWhole = true;
    const isOwn = createIsOwnSlice(record);
    for await (const { part, of } of listOrigins(staging, name)) {
      if (!isOwn(parseSliceId(part))) continue;
      hasOrigins = true;
      if (finished?.has(part) === false) isWhole = false;
      else for (const each of of) markAll(taken, each, index + 1);
    }
    if (!hasOrigins && (!isGivenUp || (await hasEnded(staging, name)))) older.push(createMatcher(record));
    if (!isWhole && state === 'cancelled') unfinished.push(name);
  }
  return {
    replays,
    unfinished,
    find(line) {
      const number = taken.get(line.part)?.[line.record] ?? 0;
      if (number > 0) return replays[number - 1]?.record.name;
      return older.map((match) => match(line)).findLast((name) => name !== undefined);
    },
  };
}

function markAll(
  taken: Map<string, Uint16Array>,
  { part, records }: { readonly part: string; readonly records: readonly number[] },
  number: number,
): void {
  const marks = taken.get(part) ?? new Uint16Array(PART_MAX_RECORDS);
  taken.set(part, marks);
  for (const record of records) marks[record] = number;
}

async function listFinishedParts(staging: Staging, name: string): Promise<Set<string>> {
  const parts = new Set<string>();
  for await (const { key } of staging.list(layout(name).receipts)) parts.add(parseReceiptKey(name, key));
  return parts;
}

async function hasEnded(staging: Staging, name: string): Promise<boolean> {
  const report = await loadStoredReport(staging, name);
  return report !== undefined && isFinished(report);
}

/** Earlier versions did not note which rejects a replay sent: all there were then, of its files and its reason. */
function createMatcher({ name, files, replaysReason }: MigrationRecord) {
  const names = new Set(files.map((file) => file.name));
  return (line: Parameters<Replayed['find']>[0]): string | undefined =>
    names.has(toStagedName(line)) && (replaysReason ?? line.reason) === line.reason ? name : undefined;
}

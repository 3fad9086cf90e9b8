import { PART_MAX_RECORDS } from '../../contract/part.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { areStagedRejects, toStagedName } from '../../pipeline/stage/stage-rejects.ts';
import { loadControl } from '../../state/control.ts';
import { layout, parseReceiptKey } from '../../state/keys/migration.ts';
import { parseSliceId } from '../../state/keys/parts.ts';
import {
  createIsOwnSlice,
  listMigrations,
  loadMigration,
  type MigrationRecord,
} from '../../state/migrations.ts';
import { listOrigins, type PartOrigins, toEventNumber } from '../../state/rejects/origins.ts';
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
  /** The last replay that took a reject, by name; undefined also where an event of it is left. */
  find(line: Place): string | undefined;
  /** Without the events that a replay has taken; undefined where nothing is left. */
  leave(line: RejectLine): RejectLine | undefined;
}

type Place = Pick<RejectLine, 'part' | 'record' | 'file' | 'reason' | 'idFrom' | 'sends'>;

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
  /** Of records of which single events alone were sent: the replay of each, by part, record and number of the event. */
  const takenEvents = new Map<string, number>();
  const unfinished: string[] = [];
  const older: ((line: Place) => string | undefined)[] = [];
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
      else
        for (const each of of)
          if (each.events) markEvents(takenEvents, each, index + 1);
          else markAll(taken, each, index + 1);
    }
    if (!hasOrigins && (!isGivenUp || (await hasEnded(staging, name)))) older.push(createMatcher(record));
    if (!isWhole && state === 'cancelled') unfinished.push(name);
  }
  const find = (line: Place): string | undefined => {
    const number = taken.get(line.part)?.[line.record] ?? 0;
    if (number > 0) return replays[number - 1]?.record.name;
    return older.map((match) => match(line)).findLast((name) => name !== undefined);
  };
  const findEvent = (line: Place, key: string) => takenEvents.get(toEventId(line, toEventNumber(key))) ?? 0;
  return {
    replays,
    unfinished,
    find(line) {
      if (!line.sends) return find(line);
      const numbers = line.sends.map((key) => findEvent(line, key));
      return numbers.includes(0) ? undefined : replays[Math.max(...numbers) - 1]?.record.name;
    },
    leave(line) {
      if (!line.sends) return find(line) === undefined ? line : undefined;
      const sends = line.sends.filter((key) => findEvent(line, key) === 0);
      return sends.length > 0 ? { ...line, sends } : undefined;
    },
  };
}

const toEventId = ({ part, record }: { readonly part: string; readonly record: number }, event: number) =>
  `${part} ${record} ${event}`;

function markEvents(
  taken: Map<string, number>,
  { part, records, events = [] }: PartOrigins['of'][number],
  number: number,
): void {
  for (const [index, record] of records.entries())
    for (const event of events[index] ?? []) taken.set(toEventId({ part, record }, event), number);
}

function markAll(
  taken: Map<string, Uint16Array>,
  { part, records }: PartOrigins['of'][number],
  number: number,
): void {
  const marks = taken.get(part) ?? new Uint16Array(PART_MAX_RECORDS);
  taken.set(part, marks);
  for (const record of records) marks[record] = number;
}

/** Parts with a receipt. */
export async function listFinishedParts(staging: Staging, name: string): Promise<Set<string>> {
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
  return (line: Place): string | undefined =>
    names.has(toStagedName(line)) && (replaysReason ?? line.reason) === line.reason ? name : undefined;
}

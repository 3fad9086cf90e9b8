import type { Staging } from '../../contract/staging.ts';
import type { RepeatsTally } from '../../pipeline/repeats-tally.ts';
import { OTHER_EVENTS } from '../../pipeline/tally.ts';
import {
  FINGERPRINT_WORDS,
  type FingerprintRange,
  type FingerprintRows,
  getKind,
  getRecord,
  OF_EVENT,
  OF_WHOLE,
  readFingerprints,
  toEventKey,
  unpackRecord,
} from '../../state/fingerprints.ts';
import {
  type FoldDeps,
  type FoldSource,
  findFile,
  type Kept,
  keep,
  requirePart,
  saveKept,
} from './fold-source.ts';
import { type EventOfSeveral, findPartly } from './refused-in-part.ts';

/** A record of several events that was delivered: its row as a whole. */
interface Whole {
  readonly record: number;
  readonly name: number;
  readonly day: string;
  readonly content: string;
}

/** What is looked for in one part. */
interface Wanted {
  readonly source: FoldSource;
  readonly kept: Map<number, Kept>;
  /** Those that are kept, and those that are equal to one of them. */
  readonly records: Set<number>;
  /** Keys of events that collide or stay, by record. */
  readonly colliding: Map<number, Set<string>>;
}

/**
 * Counts records of several events of which any collides, once each, whatever ranges their events are in. Equal
 * ones collide alike: the first is rejected, the others are its duplicates, and counted as such already. One that its
 * part rejected, because some of its events were refused, is not counted again; what a replay has to send of it is noted.
 */
export async function countSeveral(
  tally: RepeatsTally,
  { staging, sources: own, others, toRejectsKey, signal }: FoldDeps,
): Promise<void> {
  const sources = [...own, ...others];
  const { wanted, events } = gather(tally.several, sources);
  const found = new Map<number, Found>();
  for (const [number, each] of [...wanted].toSorted(([a], [b]) => a - b)) {
    signal.throwIfAborted();
    found.set(number, await findDelivered(staging, each));
  }
  const isDelivered = (source: number, record: number) => found.get(source)?.delivered.has(record) === true;
  for (const { source, ...keys } of findPartly(events, isDelivered)) {
    const part = own[source]?.part; // that of another migration is in the rejects of that one
    if (part !== undefined) tally.addPartly({ part, ...keys });
  }

  const contents = new Set<string>();
  for (const [number, { wholes, delivered, accepted }] of found) {
    signal.throwIfAborted();
    const { source, kept } = wanted.get(number) as Wanted;
    for (const record of kept.keys()) if (!delivered.has(record)) kept.delete(record);
    for (const { record, name, day, content } of wholes) {
      if (kept.get(record) !== 'rejected') continue;
      if (contents.has(content)) kept.delete(record);
      else {
        contents.add(content);
        const event = source.names[name] ?? OTHER_EVENTS;
        tally.addRecord('rejected', { file: findFile(source, record), day, event });
      }
    }
    if (kept.size === 0) continue;
    tally.addRejectSegment(await saveKept(staging, source, toRejectsKey(source.part), kept, accepted));
  }
}

/** What the ranges found, by part; those of removed parts are left out. */
function gather(several: RepeatsTally['several'], sources: readonly FoldSource[]) {
  const wanted = new Map<number, Wanted>();
  const events: EventOfSeveral[] = [];
  for (const { source: number, part, record, stays, equal, key, content } of several) {
    const at = part === undefined ? number : sources.findIndex((each) => each.part === part);
    const source = sources[at];
    if (!source) continue; // removed meanwhile
    const of = wanted.get(at) ?? { source, kept: new Map(), records: new Set(), colliding: new Map() };
    wanted.set(at, of);
    of.records.add(record);
    if (!equal) {
      keep(of.kept, record, stays ? 'stays' : 'rejected');
      if (key !== undefined) of.colliding.set(record, (of.colliding.get(record) ?? new Set()).add(key));
    }
    if (key === undefined || content === undefined) continue;
    const as = equal ? 'equal' : stays ? 'stays' : 'collides';
    events.push({ source: at, record, key, content, as });
  }
  return { wanted, events };
}

interface Found {
  readonly wholes: readonly Whole[];
  readonly delivered: ReadonlySet<number>;
  readonly accepted: ReadonlyMap<number, readonly string[]>;
}

/** Of a record that was refused in part nothing else is known than that some of its events were accepted. */
async function findDelivered(staging: Staging, { source, records, colliding }: Wanted): Promise<Found> {
  const rows = await readFingerprints(staging, source.index, ALL_DAYS);
  if (!rows) throw new Error('a record that collides is of a part with fingerprints');
  if (source.hasPieces) source.pieces ??= (await requirePart(staging, source)).pieces ?? [];
  const wholes = listWholes(rows, records);
  const delivered = new Set(wholes.map(({ record }) => record));
  return { wholes, delivered, accepted: listAccepted(rows, colliding) };
}

/** Keys of the events of records that collide with nothing, by record: a replay leaves them out. */
function listAccepted(
  { words }: FingerprintRows,
  colliding: ReadonlyMap<number, ReadonlySet<string>>,
): Map<number, string[]> {
  const accepted = new Map<number, string[]>();
  for (let at = 0; at < words.length; at += FINGERPRINT_WORDS) {
    const word = words[at + FINGERPRINT_WORDS - 1] as number;
    const record = getRecord(word);
    const keys = getKind(word) === OF_EVENT ? colliding.get(record) : undefined;
    if (!keys) continue;
    const key = toEventKey(words, at);
    if (!keys.has(key)) accepted.set(record, [...(accepted.get(record) ?? []), key]);
  }
  return accepted;
}

const ALL_DAYS: FingerprintRange = { fromDay: '', toDay: '\uffff' };

/** The rows of records of several events, as a whole, in the order of records. */
function listWholes({ words, runs }: FingerprintRows, wanted: ReadonlySet<number>): Whole[] {
  const found: Whole[] = [];
  let at = 0;
  for (const { day, rows } of runs) {
    for (const end = at + rows * FINGERPRINT_WORDS; at < end; at += FINGERPRINT_WORDS) {
      const row = words.subarray(at, at + FINGERPRINT_WORDS);
      const word = row[FINGERPRINT_WORDS - 1] as number;
      if (getKind(word) !== OF_WHOLE || !wanted.has(getRecord(word))) continue;
      found.push({ ...unpackRecord(word), day, content: row.subarray(0, -1).join() });
    }
  }
  return found.toSorted((a, b) => a.record - b.record);
}

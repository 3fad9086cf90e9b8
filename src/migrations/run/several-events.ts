import type { Staging } from '../../contract/staging.ts';
import type { RepeatsTally } from '../../pipeline/repeats/repeats-tally.ts';
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
import { type FoldDeps, type FoldSource, findFile, type Kept, requirePart, saveKept } from './fold-source.ts';

/** A record of several events that was delivered: its row as a whole. */
interface Whole {
  readonly record: number;
  readonly name: number;
  readonly day: string;
  readonly content: string;
}

/** Of a record, the keys of events that collide, and of those that stay. */
interface Contested {
  readonly colliding: Set<string>;
  readonly staying: Set<string>;
  isElsewhere: boolean;
}

/** What is looked for in one part. */
interface Wanted {
  readonly source: FoldSource;
  readonly records: Map<number, Contested>;
}

interface Found extends Wanted {
  /** By record; of one that was refused in part, nothing else is known than which of its events were accepted. */
  readonly wholes: ReadonlyMap<number, Whole>;
  readonly accepted: ReadonlyMap<number, readonly string[]>;
}

/**
 * Counts records of several events of which any collides, once each, whatever ranges their events are in. Equal
 * ones collide alike: the first is rejected, the others are its duplicates, and counted as such already. One that its
 * part rejected, because some of its events were refused, is not counted again: what a replay has to send of it is kept.
 */
export async function countSeveral(
  tally: RepeatsTally,
  { staging, sources: own, others, toRejectsKey, signal }: FoldDeps,
): Promise<void> {
  const wanted = gather(tally.several, [...own, ...others]);
  const found: Found[] = [];
  for (const [, each] of [...wanted].toSorted(([a], [b]) => a - b)) {
    signal.throwIfAborted();
    found.push(await findRows(staging, each));
  }
  const contents = new Set<string>();
  for (const { source, records, wholes, accepted } of found) {
    signal.throwIfAborted();
    const kept = new Map<number, Kept>();
    for (const [record, { colliding, staying, isElsewhere }] of [...records].toSorted(([a], [b]) => a - b)) {
      const whole = wholes.get(record);
      if (whole && colliding.size > 0) {
        if (contents.has(whole.content)) continue;
        contents.add(whole.content);
        const event = source.names[whole.name] ?? OTHER_EVENTS;
        tally.addRecord('rejected', { file: findFile(source, record), day: whole.day, event });
      }
      const sends = new Set([...staying, ...colliding]);
      const left = accepted.get(record)?.filter((key) => !sends.has(key)) ?? [];
      const as = whole && colliding.size > 0 ? 'rejected' : 'stays';
      kept.set(record, { as, isElsewhere, sends: [...sends], staying: [...staying], accepted: left });
    }
    const segment = kept.size > 0 && (await saveKept(staging, source, toRejectsKey(source.part), kept));
    if (segment) tally.addRejectSegment(segment);
  }
}

/** What the ranges found, by part; those of removed parts are left out. */
function gather(several: RepeatsTally['several'], sources: readonly FoldSource[]): Map<number, Wanted> {
  const wanted = new Map<number, Wanted>();
  for (const { source: number, part, record, stays, elsewhere, key } of several) {
    const at = part === undefined ? number : sources.findIndex((each) => each.part === part);
    const source = sources[at];
    if (!source) continue; // removed meanwhile
    const of = wanted.get(at) ?? { source, records: new Map<number, Contested>() };
    wanted.set(at, of);
    const contested = of.records.get(record) ?? {
      colliding: new Set(),
      staying: new Set(),
      isElsewhere: false,
    };
    of.records.set(record, contested);
    if (stays) contested.staying.add(key);
    else contested.colliding.add(key);
    contested.isElsewhere ||= elsewhere === true;
  }
  return wanted;
}

async function findRows(staging: Staging, wanted: Wanted): Promise<Found> {
  const { source, records } = wanted;
  const rows = await readFingerprints(staging, source.index, ALL_DAYS);
  if (!rows) throw new Error('a record that collides is of a part with fingerprints');
  if (source.hasPieces && !source.isGone) source.pieces ??= (await requirePart(staging, source)).pieces ?? [];
  return { ...wanted, wholes: listWholes(rows, records), accepted: listAccepted(rows, records) };
}

/** Keys of the events of records that were accepted. */
function listAccepted({ words }: FingerprintRows, wanted: Wanted['records']): Map<number, string[]> {
  const accepted = new Map<number, string[]>();
  for (let at = 0; at < words.length; at += FINGERPRINT_WORDS) {
    const word = words[at + FINGERPRINT_WORDS - 1] as number;
    const record = getRecord(word);
    if (getKind(word) !== OF_EVENT || !wanted.has(record)) continue;
    const keys = accepted.get(record) ?? [];
    accepted.set(record, keys);
    keys.push(toEventKey(words, at));
  }
  return accepted;
}

const ALL_DAYS: FingerprintRange = { fromDay: '', toDay: '\uffff' };

/** The rows of records of several events, as a whole. */
function listWholes({ words, runs }: FingerprintRows, wanted: Wanted['records']): Map<number, Whole> {
  const found = new Map<number, Whole>();
  let at = 0;
  for (const { day, rows } of runs) {
    for (const end = at + rows * FINGERPRINT_WORDS; at < end; at += FINGERPRINT_WORDS) {
      const row = words.subarray(at, at + FINGERPRINT_WORDS);
      const word = row[FINGERPRINT_WORDS - 1] as number;
      if (getKind(word) !== OF_WHOLE || !wanted.has(getRecord(word))) continue;
      const whole = { ...unpackRecord(word), day, content: row.subarray(0, -1).join() };
      found.set(whole.record, whole);
    }
  }
  return found;
}

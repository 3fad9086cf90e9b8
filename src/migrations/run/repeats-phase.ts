import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FilePiece, PartDescription } from '../../contract/part.ts';
import type { FingerprintIndex, RejectSegment } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { mapInOrder } from '../../lib/async/ordered-concurrency.ts';
import { SourceError } from '../../lib/errors.ts';
import { type FoldedRecord, RepeatFold } from '../../pipeline/fold-repeats.ts';
import { planRepeatRanges } from '../../pipeline/plan-repeats.ts';
import { RepeatsTally } from '../../pipeline/repeats-tally.ts';
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
import { layout, toPartsPrefix } from '../../state/keys.ts';
import { loadPart, loadPartDescription } from '../../state/parts.ts';
import { listReceipts } from '../../state/receipts.ts';
import { saveRejects } from '../../state/rejects/rejects.ts';
import { createGeneration, loadRepeatsIfWhole, type Repeats, saveRepeats } from '../../state/repeats.ts';
import { assertAllListed } from '../persons/facts-of.ts';
import type { EpochRun } from './import-phase.ts';
import { listOtherParts, type OtherPart } from './other-senders.ts';

/** Reads of small ranges at once. */
const READS_AT_ONCE = 8;

const COLLISION_DETAIL =
  'another record has the same uuid, event name, distinct_id and day, and other content; that one counts as delivered, and a replay sends all of them under uuids of their own';

/** A part that has fingerprints. */
interface FoldSource {
  readonly part: string;
  /** Of the parts of its migration. */
  readonly prefix: string;
  readonly file: string;
  /** Of a part of several files: loaded with its first rows. */
  pieces: readonly Pick<FilePiece, 'file' | 'records'>[] | undefined;
  readonly hasPieces: boolean;
  readonly index: FingerprintIndex;
  /** Names of its tally, by which its rows name events. */
  readonly names: readonly string[];
}

/** Of another migration of the family. */
type OtherSource = FoldSource & Pick<OtherPart, 'isRejected'>;

/**
 * Counts repeats over all parts, once their events are in: so that the books do not depend on how records lie
 * in files and parts. A record that collides with what its migration or a replay has sent is rejected by whoever counts
 * later. Folds the fingerprints range by range, in bounded memory; each range leaves a document,
 * so that an interrupted fold continues. Two producers that fold at once write the same documents.
 *
 * @param rangeRows Fingerprints folded at once.
 */
export async function foldRepeats(run: EpochRun, rangeRows?: number): Promise<Repeats> {
  const { staging, record, schedulerDeps } = run;
  const keys = layout(record.name);
  const prefix = toPartsPrefix(record);
  const sources: FoldSource[] = [];
  const generations = createGeneration();
  let listed = 0;
  for await (const receipt of listReceipts(staging, record.name)) {
    listed += 1;
    generations.add(receipt);
    const { part, file, byFile, fingerprints: index, tally } = receipt;
    const names = Object.keys(tally.byEvent);
    if (index)
      sources.push({ part, prefix, file, pieces: undefined, hasPieces: byFile !== undefined, index, names });
  }
  const generation = generations.end();
  assertAllListed(staging, record.name, { listed, known: run.board.parts.done });
  const resultKey = keys.repeatsResult(generation.name);
  const known = await loadRepeatsIfWhole(staging, resultKey, generation.rows);
  if (known) return known;
  // Beside a result that is damaged, its ranges may have lost rejects, which nobody looks for any more.
  const isDamaged = (await staging.get(resultKey)) !== undefined;

  const others = (await listOtherParts(staging, record)).map((part) => ({ ...part, pieces: undefined }));
  const total = new RepeatsTally();
  const ranges = planRepeatRanges(
    sources.map(({ index }) => index),
    rangeRows,
  );
  for (const [number, range] of ranges.entries()) {
    schedulerDeps.signal.throwIfAborted();
    await schedulerDeps.assertRunning();
    const id = String(number).padStart(5, '0');
    const key = keys.repeatsRange(generation.name, id);
    let folded = isDamaged ? undefined : await loadRepeatsIfWhole(staging, key);
    if (!folded) {
      const toRejectsKey = (part: string) => keys.repeatsRejects(generation.name, id, part);
      folded = await foldRange(
        { staging, sources, others, toRejectsKey, signal: schedulerDeps.signal },
        range,
      );
      await saveRepeats(staging, key, folded);
    }
    total.addAll(folded);
  }
  await countSeveral(total, {
    ...{ staging, sources, others, signal: schedulerDeps.signal },
    toRejectsKey: (part) => keys.repeatsRejects(generation.name, 'several', part),
  });
  const { several: _, ...result } = total.build();
  await saveRepeats(staging, resultKey, result);
  return result;
}

interface FoldDeps {
  readonly staging: Staging;
  readonly sources: readonly FoldSource[];
  /** Numbered behind the sources. */
  readonly others: readonly OtherSource[];
  readonly toRejectsKey: (part: string) => string;
  readonly signal: AbortSignal;
}

async function foldRange(
  { staging, sources, others, toRejectsKey, signal }: FoldDeps,
  range: FingerprintRange,
): Promise<Repeats> {
  const fold = new RepeatFold();
  const days = new Set<string>();
  const read = async (number: number) => {
    const source = sources[number];
    const rows = source && (await readFingerprints(staging, source.index, range));
    if (rows && source.hasPieces) {
      source.pieces ??= (await requirePart(staging, source)).pieces ?? [];
    }
    return { number, rows };
  };
  for await (const { number, rows } of mapInOrder(countUp(sources.length), READS_AT_ONCE, signal, read)) {
    if (rows) fold.add(number, rows);
    for (const { day } of rows?.runs ?? []) days.add(day);
  }
  const readOther = async (number: number) => {
    const other = others[number];
    const common = other?.index.sections.map(({ day }) => day).filter((day) => days.has(day)) ?? [];
    const [fromDay, toDay = fromDay] = [common[0], common.at(-1)];
    if (!other || fromDay === undefined || toDay === undefined) return undefined;
    const rows = await readFingerprints(staging, other.index, { ...range, fromDay, toDay });
    return rows && { number: sources.length + number, rows, isRejected: other.isRejected };
  };
  for await (const found of mapInOrder(countUp(others.length), READS_AT_ONCE, signal, readOther))
    if (found) await fold.addOthers(found.number, found.rows, found.isRejected);

  const tally = new RepeatsTally();
  tally.addRows(fold.rows);
  const toCounted = ({ source, record, day, name }: FoldedRecord) => {
    const of = sources[source];
    return { file: of ? findFile(of, record) : '', day, event: of?.names[name] ?? OTHER_EVENTS };
  };
  const kept = new Map<number, Map<number, Kept>>();
  await fold.fold({
    onDuplicate: (record) => tally.addRecord('duplicate', toCounted(record)),
    onCollision: (record) => {
      const { eventKey } = record;
      if (eventKey !== undefined)
        tally.addSeveral({ source: record.source, record: record.record, key: eventKey });
      else {
        tally.addRecord('rejected', toCounted(record));
        keep(kept, record.source, record.record, 'rejected');
      }
    },
    onStays: ({ source, record, eventKey }) => {
      if (eventKey === undefined) return keep(kept, source, record, 'stays');
      const part = others[source - sources.length]?.part;
      tally.addSeveral({
        source,
        record,
        key: eventKey,
        stays: true,
        ...(part === undefined ? {} : { part }),
      });
    },
    onEvents: ({ repeated, colliding }) => tally.addEvents(repeated + colliding),
  });

  for (const [source, records] of [...kept].toSorted(([a], [b]) => a - b)) {
    signal.throwIfAborted();
    const of = sources[source] ?? others[source - sources.length];
    if (!of) throw new Error('a record that is kept is of a part');
    tally.addRejectSegment(await saveKept(staging, of, toRejectsKey(of.part), records));
  }
  return tally.build();
}

type Kept = 'rejected' | 'stays';

function keep(kept: Map<number, Map<number, Kept>>, source: number, record: number, as: Kept): void {
  const records = kept.get(source) ?? new Map<number, Kept>();
  kept.set(source, records);
  if (records.get(record) !== 'rejected') records.set(record, as);
}

async function saveKept(
  staging: Staging,
  of: FoldSource,
  key: string,
  kept: ReadonlyMap<number, Kept>,
  accepted: ReadonlyMap<number, readonly string[]> = new Map(),
): Promise<RejectSegment> {
  const part = await requirePart(staging, of);
  const records = await loadPart(staging, of.prefix, part);
  const notes = [...kept]
    .toSorted(([a], [b]) => a - b)
    .map(([record, as]) => ({
      record,
      reason: 'same_id_other_content' as const,
      detail: COLLISION_DETAIL,
      ...(as === 'stays' ? { stays: true as const } : {}),
      ...(accepted.has(record) ? { accepted: accepted.get(record) ?? [] } : {}),
    }));
  return saveRejects(staging, key, { part, header: records.header, records, notes });
}

/**
 * Counts records of several events of which any collides, once each, whatever ranges their events are in. Equal
 * ones collide alike: the first is rejected, the others are its duplicates, and counted as such already.
 */
async function countSeveral(
  tally: RepeatsTally,
  { staging, sources: own, others, toRejectsKey, signal }: FoldDeps,
): Promise<void> {
  const kept = new Map<number, Map<number, Kept>>();
  const colliding = new Map<number, Map<number, Set<string>>>();
  const sources = [...own, ...others];
  for (const { source: number, part, record, stays, key } of tally.several) {
    const source = part === undefined ? number : sources.findIndex((each) => each.part === part);
    if (source < 0) continue; // removed meanwhile
    keep(kept, source, record, stays ? 'stays' : 'rejected');
    if (key !== undefined) addColliding(colliding, source, record, key);
  }
  const contents = new Set<string>();
  for (const [number, records] of [...kept].toSorted(([a], [b]) => a - b)) {
    signal.throwIfAborted();
    const source = sources[number];
    const rows = source && (await readFingerprints(staging, source.index, ALL_DAYS));
    if (!rows) throw new Error('a record that collides is of a part with fingerprints');
    if (source.hasPieces) source.pieces ??= (await requirePart(staging, source)).pieces ?? [];
    const wholes = listWholes(rows, records);
    // Of a record that was refused in part nothing else is known than that some of its events were accepted.
    const delivered = new Set(wholes.map(({ record }) => record));
    for (const record of records.keys()) if (!delivered.has(record)) records.delete(record);
    for (const { record, name, day, content } of wholes) {
      if (records.get(record) !== 'rejected') continue;
      if (contents.has(content)) records.delete(record);
      else {
        contents.add(content);
        const event = source.names[name] ?? OTHER_EVENTS;
        tally.addRecord('rejected', { file: findFile(source, record), day, event });
      }
    }
    if (records.size === 0) continue;
    const key = toRejectsKey(source.part);
    const accepted = listAccepted(rows, records, colliding.get(number) ?? new Map());
    tally.addRejectSegment(await saveKept(staging, source, key, records, accepted));
  }
}

function addColliding(
  colliding: Map<number, Map<number, Set<string>>>,
  source: number,
  record: number,
  key: string,
): void {
  const records = colliding.get(source) ?? new Map<number, Set<string>>();
  colliding.set(source, records);
  records.set(record, (records.get(record) ?? new Set()).add(key));
}

/** Keys of the events of records that collide with nothing, by record: a replay leaves them out. */
function listAccepted(
  { words }: FingerprintRows,
  wanted: ReadonlyMap<number, unknown>,
  colliding: ReadonlyMap<number, ReadonlySet<string>>,
): Map<number, string[]> {
  const accepted = new Map<number, string[]>();
  for (let at = 0; at < words.length; at += FINGERPRINT_WORDS) {
    const word = words[at + FINGERPRINT_WORDS - 1] as number;
    const record = getRecord(word);
    const keys = getKind(word) === OF_EVENT && wanted.has(record) ? colliding.get(record) : undefined;
    if (!keys) continue;
    const key = toEventKey(words, at);
    if (!keys.has(key)) accepted.set(record, [...(accepted.get(record) ?? []), key]);
  }
  return accepted;
}

const ALL_DAYS: FingerprintRange = { fromDay: '', toDay: '\uffff' };

/** The rows of records of several events, as a whole, in the order of records. */
function listWholes({ words, runs }: FingerprintRows, wanted: ReadonlyMap<number, unknown>) {
  const found: { record: number; name: number; day: string; content: string }[] = [];
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

async function requirePart(
  staging: Staging,
  { prefix, part: id }: Pick<FoldSource, 'prefix' | 'part'>,
): Promise<PartDescription> {
  const part = await loadPartDescription(staging, prefix, id);
  if (part) return part;
  throw new SourceError(`${staging.location}: the description of part ${id} is gone`);
}

/** The name of the file that a record of a part is from. */
function findFile({ file, pieces }: FoldSource, record: number): string {
  let end = 0;
  for (const piece of pieces ?? []) {
    end += piece.records;
    if (record < end) return piece.file;
  }
  return file;
}

async function* countUp(end: number): AsyncGenerator<number> {
  for (let number = 0; number < end; number += 1) {
    yield number;
    if (number % 1_000 === 0) await nextTurn();
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapInOrder } from '../../lib/async/ordered-concurrency.ts';
import type { FoldedRecord, FoldVisitor } from '../../pipeline/repeats/decide-repeats.ts';
import { RepeatFold } from '../../pipeline/repeats/fold-repeats.ts';
import { planRepeatRanges, type RepeatRange } from '../../pipeline/repeats/plan-repeats.ts';
import { RepeatsTally } from '../../pipeline/repeats/repeats-tally.ts';
import { OTHER_EVENTS } from '../../pipeline/tally.ts';
import { type FingerprintRange, readFingerprints } from '../../state/fingerprints.ts';
import { layout } from '../../state/keys/migration.ts';
import { toPartsPrefix } from '../../state/keys/parts.ts';
import { listReceipts } from '../../state/receipts.ts';
import { createGeneration, loadRepeatsIfWhole, type Repeats, saveRepeats } from '../../state/repeats.ts';
import { assertAllListed } from '../persons/facts-of.ts';
import { type FoldDeps, type FoldSource, findFile, type Kept, requirePart, saveKept } from './fold-source.ts';
import type { EpochRun } from './import-phase.ts';
import { listOtherParts } from './other-senders.ts';
import { countSeveral } from './several-events.ts';

/** Reads of small ranges at once. */
const READS_AT_ONCE = 8;

/**
 * Counts repeats over all parts, once their events are in: so that the books do not depend on how records lie
 * in files and parts. A record that collides with what its migration or a replay has sent is rejected by whoever counts
 * later. Folds the fingerprints range by range, in bounded memory; each range leaves a document,
 * so that an interrupted fold continues. Two producers of one version that fold at once write the same
 * documents.
 *
 * @param sizes Fingerprints of a range, and of those that are folded at once.
 */
export async function foldRepeats(
  run: EpochRun,
  sizes?: { readonly rangeRows?: number; readonly foldRows?: number },
): Promise<Repeats> {
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
      sources.push({
        ...{ part, migration: record, prefix, file, index, names },
        ...{ pieces: undefined, hasPieces: byFile !== undefined, isGone: false },
      });
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
    sizes,
  );
  const fold = new RepeatFold();
  for (const [number, range] of ranges.entries()) {
    schedulerDeps.signal.throwIfAborted();
    await schedulerDeps.assertRunning();
    const id = String(number).padStart(5, '0');
    const key = keys.repeatsRange(generation.name, id);
    let folded = isDamaged ? undefined : await loadRepeatsIfWhole(staging, key);
    if (!folded) {
      const toRejectsKey = (part: string) => keys.repeatsRejects(generation.name, id, part);
      folded = await foldRange(
        fold,
        { staging, sources, others, toRejectsKey, signal: schedulerDeps.signal },
        range,
      );
      await saveRepeats(staging, key, folded);
    }
    total.addAll(folded);
  }
  fold.close();
  await countSeveral(total, {
    ...{ staging, sources, others, signal: schedulerDeps.signal },
    toRejectsKey: (part) => keys.repeatsRejects(generation.name, 'several', part),
  });
  const { several: _, ...result } = total.build();
  await saveRepeats(staging, resultKey, result);
  return result;
}

async function foldRange(fold: RepeatFold, deps: FoldDeps, range: RepeatRange): Promise<Repeats> {
  const { staging, sources, others, toRejectsKey, signal } = deps;
  const tally = new RepeatsTally();
  const toCounted = ({ source, record, day, name }: FoldedRecord) => {
    const of = sources[source];
    return { file: of ? findFile(of, record) : '', day, event: of?.names[name] ?? OTHER_EVENTS };
  };
  const kept = new Map<number, Map<number, Kept>>();
  const keepOf = ({ source, record }: FoldedRecord, of: Kept) => {
    const records = kept.get(source) ?? new Map<number, Kept>();
    kept.set(source, records);
    if (records.get(record)?.as !== 'rejected') records.set(record, of);
  };
  const visitor: FoldVisitor = {
    onDuplicate: (record) => tally.addRecord('duplicate', toCounted(record)),
    onCollision: (record, isElsewhere) => {
      const { eventKey } = record;
      if (eventKey !== undefined)
        tally.addSeveral({
          ...{ source: record.source, record: record.record, key: eventKey },
          ...(isElsewhere ? { elsewhere: true } : {}),
        });
      else {
        tally.addRecord('rejected', toCounted(record));
        keepOf(record, { as: 'rejected', isElsewhere });
      }
    },
    onStays: (staying) => {
      const { source, record, eventKey } = staying;
      if (eventKey === undefined) return keepOf(staying, { as: 'stays' });
      const part = others[source - sources.length]?.part;
      tally.addSeveral({
        ...{ source, record, key: eventKey, stays: true },
        ...(part === undefined ? {} : { part }),
      });
    },
    onEvents: (events) => tally.addEvents(events),
  };
  for (const one of range) {
    signal.throwIfAborted();
    await addRows(fold, deps, one);
    tally.addRows(fold.rows);
    await fold.fold(visitor);
  }

  for (const [source, records] of [...kept].toSorted(([a], [b]) => a - b)) {
    signal.throwIfAborted();
    const of = sources[source] ?? others[source - sources.length];
    if (!of) throw new Error('a record that is kept is of a part');
    const segment = await saveKept(staging, of, toRejectsKey(of.part), records);
    if (segment) tally.addRejectSegment(segment);
  }
  return tally.build();
}

/** Adds what all parts have of a range to an empty fold. */
async function addRows(
  fold: RepeatFold,
  { staging, sources, others, signal }: FoldDeps,
  range: FingerprintRange,
): Promise<void> {
  fold.clear();
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
    return rows && { number: sources.length + number, rows, other };
  };
  for await (const found of mapInOrder(countUp(others.length), READS_AT_ONCE, signal, readOther))
    if (found)
      await fold.addOthers(found.number, found.rows, found.other.migration.id, found.other.isRejected);
}

async function* countUp(end: number): AsyncGenerator<number> {
  for (let number = 0; number < end; number += 1) {
    yield number;
    if (number % 1_000 === 0) await nextTurn();
  }
}

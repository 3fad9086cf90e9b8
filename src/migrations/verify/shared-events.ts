import type { FingerprintIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { type FoldVisitor, RepeatFold } from '../../pipeline/fold-repeats.ts';
import { planRepeatRanges } from '../../pipeline/plan-repeats.ts';
import { OTHER_EVENTS } from '../../pipeline/tally.ts';
import { type FingerprintRange, readFingerprints } from '../../state/fingerprints.ts';
import { listReceipts } from '../../state/receipts.ts';

/** A migration or a replay whose fingerprints are in staging. */
export interface Sender {
  readonly name: string;
  /** Whether its report counts repeats among its own parts. */
  readonly isCounted: boolean;
}

/** What several migrations have all sent, beyond the repeats that each counts by itself. */
export interface SharedEvents {
  /** Events that are there once, and that the reports count more than once. */
  readonly events: number;
  /** Records, by UTC day and by event name. */
  readonly byDay: ReadonlyMap<string, number>;
  readonly byEvent: ReadonlyMap<string, number>;
}

interface Source {
  readonly sender: number;
  readonly index: FingerprintIndex;
  readonly names: readonly string[];
}

/**
 * Counts what the first of several senders and the others have sent alike, for example because a record that it
 * rejected came once more in a top-up and in a replay. Reads what the first has of the days of the others, some 40 MB at
 * a time. Throws SourceError.
 *
 * @param rangeRows Fingerprints compared at once.
 */
export async function countSharedEvents(
  staging: Staging,
  senders: readonly Sender[],
  rangeRows?: number,
): Promise<SharedEvents> {
  const sources: Source[] = [];
  for (const [sender, { name }] of senders.entries())
    for await (const { fingerprints, tally } of listReceipts(staging, name))
      if (fingerprints) sources.push({ sender, index: fingerprints, names: Object.keys(tally.byEvent) });
  const days = new Set(
    sources.flatMap(({ sender, index }) => (sender === 0 ? [] : index.sections.map(({ day }) => day))),
  );
  const sum = { events: 0, byDay: new Map<string, number>(), byEvent: new Map<string, number>() };
  const ranges = planRepeatRanges(
    sources.map(({ index }) => index),
    rangeRows,
  ).filter(({ fromDay, toDay }) => [...days].some((day) => day >= fromDay && day <= toDay));
  for (const range of ranges) {
    await addRepeats(staging, sources, range, 1, sum);
    for (const [sender, { isCounted }] of senders.entries())
      if (isCounted)
        await addRepeats(
          staging,
          sources.filter((source) => source.sender === sender),
          range,
          -1,
          sum,
        );
  }
  return sum;
}

async function addRepeats(
  staging: Staging,
  sources: readonly Source[],
  range: FingerprintRange,
  sign: 1 | -1,
  sum: { events: number; readonly byDay: Map<string, number>; readonly byEvent: Map<string, number> },
): Promise<void> {
  const fold = new RepeatFold();
  for (const [number, { index }] of sources.entries()) {
    const rows = await readFingerprints(staging, index, range);
    if (rows) fold.add(number, rows);
  }
  const addRecord = ({ source, day, name, eventKey }: Parameters<FoldVisitor['onDuplicate']>[0]) => {
    if (eventKey !== undefined) return; // whether a record collides is a matter of all its events
    add(sum.byDay, day, sign);
    add(sum.byEvent, sources[source]?.names[name] ?? OTHER_EVENTS, sign);
  };
  await fold.fold({
    onDuplicate: addRecord,
    // In the books of whoever counted its repeats last.
    onCollision: () => {},
    onStays: () => {},
    onEqual: () => {},
    onEvents: ({ repeated }) => {
      sum.events += sign * repeated;
    },
  });
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

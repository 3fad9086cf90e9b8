import type { RecordCounts, Tally } from '../../contract/progress.ts';
import { REPEATED } from '../../pipeline/outcomes.ts';
import { OTHER_EVENTS } from '../../pipeline/tally.ts';
import type { Correction, Repeats } from '../../state/repeats.ts';
import type { FileTotals } from './receipt-totals.ts';

/**
 * Receipts count what was accepted, part by part; this counts each record beside the others of the migration.
 * Events stay as they are: they were sent and accepted.
 */
export function applyRepeats(tally: Tally, { total, byDay, byEvent }: Repeats): Tally {
  return {
    counts: move(tally.counts, total),
    events: tally.events,
    byDay: moveAll(tally.byDay, byDay),
    byEvent: moveAll(tally.byEvent, byEvent),
    byReason: addReasons(tally.byReason, total),
  };
}

/** The same for counts by UTC day. */
export const applyRepeatsToDays = (
  byDay: Readonly<Record<string, RecordCounts>>,
  repeats: Repeats,
): Record<string, RecordCounts> => moveAll(byDay, repeats.byDay);

export function applyRepeatsToFiles(
  files: ReadonlyMap<string, FileTotals>,
  { byFile }: Repeats,
): ReadonlyMap<string, FileTotals> {
  const corrected = new Map(files);
  for (const [file, correction] of Object.entries(byFile)) {
    const totals = corrected.get(file);
    if (totals) corrected.set(file, { ...totals, counts: move(totals.counts, correction) });
  }
  return corrected;
}

const move = (counts: RecordCounts, { duplicate, rejected }: Correction): RecordCounts => ({
  ...counts,
  delivered: counts.delivered - duplicate - rejected,
  duplicate: counts.duplicate + duplicate,
  rejected: counts.rejected + rejected,
});

function moveAll(
  all: Readonly<Record<string, RecordCounts>>,
  corrections: Readonly<Record<string, Correction>>,
): Record<string, RecordCounts> {
  const moved = new Map(Object.entries(all));
  for (const [key, correction] of Object.entries(corrections)) {
    // A name that one part counts by itself may be among the others in the sum of all.
    const counted = moved.has(key) ? key : OTHER_EVENTS;
    const counts = moved.get(counted);
    if (counts) moved.set(counted, move(counts, correction));
  }
  return Object.fromEntries(moved);
}

function addReasons(
  byReason: Readonly<Record<string, number>>,
  { duplicate, rejected }: Correction,
): Record<string, number> {
  const reasons = new Map(Object.entries(byReason));
  const add = (reason: string, count: number) => {
    if (count > 0) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  };
  add(REPEATED, duplicate);
  add('same_id_other_content', rejected);
  return Object.fromEntries([...reasons].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

import { isBalanced, zeroCounts } from '../contract/counts.ts';
import type { ByFile, RecordCounts, Tally } from '../contract/progress.ts';

/** Event names beyond this many are counted as one, so that a vendor's bug cannot blow up a checkpoint. */
export const EVENT_NAMES_MAX = 2_000;
export const OTHER_EVENTS = '(other)';

export const emptyTally = (): Tally => ({
  counts: zeroCounts(),
  events: { sent: 0, accepted: 0 },
  byDay: {},
  byEvent: {},
  byReason: {},
});

/** The outcome of one record, and what it is counted under. */
export type CountedOutcome = {
  /** UTC day of the source time, or `unknown`. */
  readonly day: string;
  readonly event: string;
} & (
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'skipped' | 'duplicate' | 'rejected'; readonly reason: string }
);

/** Adds to a copy of the tally it starts from. */
export class TallyBuilder {
  readonly #counts: RecordCounts;
  readonly #events: Tally['events'];
  readonly #byDay: CountsByKey;
  readonly #byEvent: CountsByKey;
  readonly #byReason: Map<string, number>;

  constructor(start: Tally = emptyTally()) {
    this.#counts = { ...start.counts };
    this.#events = { ...start.events };
    this.#byDay = new CountsByKey(Number.POSITIVE_INFINITY, start.byDay);
    this.#byEvent = new CountsByKey(EVENT_NAMES_MAX, start.byEvent);
    this.#byReason = new Map(Object.entries(start.byReason));
  }

  /** Counts so many records that are alike. */
  addOutcome(counted: CountedOutcome, times = 1): void {
    const { outcome, day, event } = counted;
    for (const counts of [this.#counts, this.#byDay.get(day), this.#byEvent.get(event)]) {
      counts.read += times;
      counts[outcome] += times;
    }
    if (counted.outcome !== 'delivered') this.#addReason(counted.reason, times);
  }

  addEvents(sent: number, accepted: number): void {
    this.#events.sent += sent;
    this.#events.accepted += accepted;
  }

  addTally(other: Tally): void {
    addTo(this.#counts, other.counts);
    this.addEvents(other.events.sent, other.events.accepted);
    this.#byDay.addAll(other.byDay);
    this.#byEvent.addAll(other.byEvent);
    for (const [reason, count] of Object.entries(other.byReason)) this.#addReason(reason, count);
  }

  /** Keys are sorted: equal tallies are equal texts. */
  build(): Tally {
    return {
      counts: { ...this.#counts },
      events: { ...this.#events },
      byDay: this.#byDay.build(),
      byEvent: this.#byEvent.build(),
      byReason: Object.fromEntries([...this.#byReason].sort(byKey)),
    };
  }

  #addReason(reason: string, count: number): void {
    this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count);
  }
}

/** Counts of the records of a part by file. Adds to a copy of what it starts from. */
export class FileTally {
  readonly #getFile: (record: number) => string | undefined;
  #counts: CountsByKey | undefined;

  constructor(start: ByFile | undefined, getFile: (record: number) => string | undefined) {
    this.#getFile = getFile;
    if (start) this.#counts = new CountsByKey(Number.POSITIVE_INFINITY, start);
  }

  addOutcome(record: number, outcome: CountedOutcome['outcome']): void {
    const file = this.#getFile(record);
    if (file === undefined) return;
    this.#counts ??= new CountsByKey(Number.POSITIVE_INFINITY, {});
    const counts = this.#counts.get(file);
    counts.read += 1;
    counts[outcome] += 1;
  }

  /** Nothing where the part is of one file: its counts are the tally's. */
  build(): { byFile?: ByFile } {
    return this.#counts ? { byFile: this.#counts.build() } : {};
  }
}

/** Associative and commutative: the sum depends neither on the order of receipts nor on how parts were cut. */
export function mergeTally(a: Tally, b: Tally): Tally {
  const builder = new TallyBuilder(a);
  builder.addTally(b);
  return builder.build();
}

/** Each breakdown of a tally that does not match its totals, as a sentence. */
export function findImbalances({ counts, byDay, byEvent, byReason }: Tally): string[] {
  const found: string[] = [];
  if (!isBalanced(counts)) found.push(`outcomes do not add up to the ${counts.read} records read`);
  for (const [breakdown, parts] of Object.entries({ day: byDay, 'event name': byEvent })) {
    const sum = zeroCounts();
    for (const part of Object.values(parts)) addTo(sum, part);
    if (OUTCOMES.some((outcome) => sum[outcome] !== counts[outcome])) {
      found.push(`the counts by ${breakdown} do not add up to the totals`);
    }
  }
  const reasons = Object.values(byReason).reduce((sum, count) => sum + count, 0);
  if (reasons !== counts.skipped + counts.duplicate + counts.rejected) {
    found.push('the counts by reason do not add up to the skipped, duplicate and rejected records');
  }
  return found;
}

const OUTCOMES = ['read', 'delivered', 'skipped', 'duplicate', 'rejected'] as const;

function addTo(sum: RecordCounts, more: RecordCounts): void {
  for (const outcome of OUTCOMES) sum[outcome] += more[outcome];
}

/**
 * Counts by key. Of more than `max` keys the first in text order are kept and the rest is added to `(other)`:
 * a key among the first of all is among the first of each part, so its counts are exact in whatever order
 * tallies are added. Keeping the most frequent ones would not be exact.
 */
class CountsByKey {
  readonly #max: number;
  #byKey = new Map<string, RecordCounts>();
  readonly #other = zeroCounts();

  constructor(max: number, start: Tally['byEvent']) {
    this.#max = max;
    this.addAll(start);
  }

  addAll(counts: Tally['byEvent']): void {
    for (const [key, more] of Object.entries(counts)) addTo(this.get(key), more);
  }

  /** The counts of a key, to be added to. */
  get(name: string): RecordCounts {
    if (name === OTHER_EVENTS) return this.#other;
    // Parsing and validation may lose this key of an object.
    const key = name === '__proto__' ? '(__proto__)' : name;
    const known = this.#byKey.get(key);
    if (known) return known;
    if (this.#byKey.size >= 2 * this.#max) this.#trim();
    const counts = zeroCounts();
    this.#byKey.set(key, counts);
    return counts;
  }

  build(): Tally['byEvent'] {
    this.#trim();
    const entries = [...this.#byKey].map(([key, counts]) => [key, { ...counts }] as const);
    const other = this.#other.read > 0 ? [[OTHER_EVENTS, { ...this.#other }] as const] : [];
    return Object.fromEntries([...entries, ...other]);
  }

  /** Sorts, and moves the excess to `(other)`. Runs seldom: up to twice `max` keys are held. */
  #trim(): void {
    const sorted = [...this.#byKey].sort(byKey);
    for (const [, counts] of sorted.splice(this.#max)) addTo(this.#other, counts);
    this.#byKey = new Map(sorted);
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);

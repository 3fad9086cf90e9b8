import { zeroCounts } from '../contract/counts.ts';
import type { RecordCounts, Tally } from '../contract/progress.ts';

/** More event names than this are told apart no longer, so that no vendor bug can blow up a checkpoint. */
export const EVENT_NAMES_MAX = 2_000;
export const OTHER_EVENTS = '(other)';

export const emptyTally = (): Tally => ({
  counts: zeroCounts(),
  events: { sent: 0, accepted: 0 },
  byDay: {},
  byEvent: {},
  byReason: {},
});

/** What is counted of one record. */
export type CountedOutcome = {
  /** UTC day of the source time, or `unknown`. */
  readonly day: string;
  readonly event: string;
} & (
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'skipped' | 'duplicate' | 'rejected'; readonly reason: string }
);

/** Adds up a tally in place, on a copy of the one it starts from. */
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

  addOutcome(counted: CountedOutcome): void {
    const { outcome, day, event } = counted;
    for (const counts of [this.#counts, this.#byDay.at(day), this.#byEvent.at(event)]) {
      counts.read += 1;
      counts[outcome] += 1;
    }
    if (counted.outcome !== 'delivered') this.#addReason(counted.reason, 1);
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

  /** Keys come sorted: equal tallies are equal texts. */
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

/** Associative and commutative: neither the order of receipts nor the part cut shows in the sum. */
export function mergeTally(a: Tally, b: Tally): Tally {
  const builder = new TallyBuilder(a);
  builder.addTally(b);
  return builder.build();
}

export const balances = ({ read, delivered, skipped, duplicate, rejected }: RecordCounts): boolean =>
  read === delivered + skipped + duplicate + rejected;

/** Each book of a tally that does not agree with its totals, as a sentence. */
export function imbalances({ counts, byDay, byEvent, byReason }: Tally): string[] {
  const found: string[] = [];
  if (!balances(counts)) found.push(`outcomes do not add up to the ${counts.read} records read`);
  for (const [book, parts] of Object.entries({ day: byDay, 'event name': byEvent })) {
    const sum = zeroCounts();
    for (const part of Object.values(parts)) addTo(sum, part);
    if (OUTCOMES.some((outcome) => sum[outcome] !== counts[outcome])) {
      found.push(`the counts by ${book} do not add up to the totals`);
    }
  }
  const reasons = Object.values(byReason).reduce((sum, count) => sum + count, 0);
  if (reasons !== counts.skipped + counts.duplicate + counts.rejected) {
    found.push('the counts by reason do not add up to what was skipped, repeated and rejected');
  }
  return found;
}

const OUTCOMES = ['read', 'delivered', 'skipped', 'duplicate', 'rejected'] as const;

function addTo(sum: RecordCounts, more: RecordCounts): void {
  for (const outcome of OUTCOMES) sum[outcome] += more[outcome];
}

/**
 * Counts by key. Beyond `max` keys the least ones in text order are kept and the rest goes to
 * `(other)`: a key among the least of everything is among the least of each part, so its counts are
 * exact in whatever order tallies are added. Keeping the most frequent ones would not be.
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
    for (const [key, more] of Object.entries(counts)) addTo(this.at(key), more);
  }

  /** The counts to add to for a key. */
  at(name: string): RecordCounts {
    if (name === OTHER_EVENTS) return this.#other;
    // An object cannot be trusted to carry this one key through parsing and validation.
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

  /** Sorts, and folds what is too many. Seldom: room for as many again is left to grow into. */
  #trim(): void {
    const sorted = [...this.#byKey].sort(byKey);
    for (const [, counts] of sorted.splice(this.#max)) addTo(this.#other, counts);
    this.#byKey = new Map(sorted);
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]) => (a < b ? -1 : 1);

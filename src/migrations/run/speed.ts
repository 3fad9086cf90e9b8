import type { RecordCounts } from '../../contract/progress.ts';

/** How fast a run is, and how long it still takes. */
export interface Speed {
  readonly recordsPerSecond: number;
  /** Undefined until it can be known: nothing was imported yet, or the number of records is not known. */
  readonly secondsLeft: number | undefined;
  /** Whether the budget is used up: nothing else holds the run back. */
  readonly heldByBudget: boolean;
}

/** The window of the budget (I6). */
const WINDOW_MS = 60_000;
const SAMPLE_EVERY_MS = 500;
/** A run that used this share of the budget in the last window is held back by nothing else. */
const BUDGET_BOUND = 0.9;

interface Sample {
  readonly atMs: number;
  readonly read: number;
  readonly delivered: number;
}

/**
 * Measures a run over the last minute. A run that is held back by its budget sends as much as is allowed at once and
 * then waits: its speed over any shorter time says nothing. So the time left is that of the events, sent as the
 * budget lets them through.
 *
 * @param eventsPerMinute undefined where nothing limits them
 */
export class Speedometer {
  readonly #cap: number;
  #samples: Sample[] = [];

  constructor(eventsPerMinute: number | undefined) {
    this.#cap = eventsPerMinute ?? Number.POSITIVE_INFINITY;
  }

  /** Called often; the samples it keeps are half a second apart. `nowMs` never goes back. */
  add({ read, delivered }: RecordCounts, nowMs: number): void {
    const last = this.#samples.at(-1);
    if (last && nowMs - last.atMs < SAMPLE_EVERY_MS) return;
    // One that is older than the window stays, to know what was sent since.
    const firstKept = this.#samples.findLastIndex(({ atMs }) => atMs <= nowMs - WINDOW_MS);
    if (firstKept > 0) this.#samples = this.#samples.slice(firstKept);
    this.#samples.push({ atMs: nowMs, read, delivered });
  }

  /** `total`: records of the whole run; undefined while they are being staged. */
  measure({ read, delivered }: RecordCounts, total: number | undefined, nowMs: number): Speed {
    const first = this.#samples[0];
    const elapsedMs = first === undefined ? 0 : nowMs - first.atMs;
    if (first === undefined || elapsedMs < SAMPLE_EVERY_MS)
      return { recordsPerSecond: 0, secondsLeft: undefined, heldByBudget: false };
    const recordsPerSecond = ((read - first.read) * 1000) / elapsedMs;
    const sentInWindow = delivered - this.#countBefore(nowMs - WINDOW_MS);
    const heldByBudget = sentInWindow >= BUDGET_BOUND * this.#cap;
    if (total === undefined || read === 0) return { recordsPerSecond, secondsLeft: undefined, heldByBudget };
    const records = Math.max(0, total - read);
    const events = Math.ceil((records * delivered) / read);
    const bySpeed = recordsPerSecond > 0 ? records / recordsPerSecond : undefined;
    if (!heldByBudget) return { recordsPerSecond, secondsLeft: bySpeed, heldByBudget };
    const free = Math.max(0, this.#cap - sentInWindow);
    return {
      recordsPerSecond,
      heldByBudget,
      secondsLeft: events <= free ? bySpeed : this.#computeWaitMs(events - free, nowMs) / 1000,
    };
  }

  #countBefore(ms: number): number {
    return this.#samples.findLast(({ atMs }) => atMs <= ms)?.delivered ?? this.#samples[0]?.delivered ?? 0;
  }

  /** Until the last of so many events is let through: each may be sent a window after the one that is `cap` before it. */
  #computeWaitMs(events: number, nowMs: number): number {
    const windows = Math.floor((events - 1) / this.#cap);
    const nth = events - windows * this.#cap;
    const before = this.#countBefore(nowMs - WINDOW_MS);
    const sentAtMs = this.#samples.find(({ delivered }) => delivered - before >= nth)?.atMs ?? nowMs;
    return Math.max(0, sentAtMs + WINDOW_MS - nowMs) + windows * WINDOW_MS;
  }
}

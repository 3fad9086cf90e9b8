import type { RecordCounts } from '../../contract/progress.ts';
import { AVERAGE_MS, type Budget, estimateMsLeft, type Sample, WINDOW_MS } from './time-left.ts';

/** How fast a run is, and how long it still takes. */
export interface Speed {
  /** Over the last minute. */
  readonly recordsPerSecond: number;
  /** Undefined until it can be known: nothing was imported yet, or the number of records is not known. */
  readonly secondsLeft: number | undefined;
  /** Whether the budget is used up: nothing else holds the run back. */
  readonly heldByBudget: boolean;
}

const SAMPLE_EVERY_MS = 500;
/** A run that used this share of the budget in the last window is held back by nothing else. */
const BUDGET_BOUND = 0.9;
/** So many records are taken to be an event each, so that the first few do not decide how many events are left. */
const FIRST_RECORDS = 100;

/**
 * Measures a run.
 *
 * @param budget undefined where nothing limits the events
 */
export class Speedometer {
  readonly #budget: Budget | undefined;
  /** Ascending. Those in which nothing changed are left out. */
  #samples: Sample[] = [];

  constructor(budget: Budget | undefined) {
    this.#budget = budget;
  }

  /** Called often; the samples it keeps are half a second apart. `nowMs` never goes back. */
  add({ read, delivered }: RecordCounts, nowMs: number): void {
    const last = this.#samples.at(-1);
    if (last && last.read === read && last.delivered === delivered) return;
    const isNear = last !== undefined && this.#samples.length > 1 && nowMs - last.atMs < SAMPLE_EVERY_MS;
    if (isNear) this.#samples[this.#samples.length - 1] = { atMs: last.atMs, read, delivered };
    else this.#samples.push({ atMs: nowMs, read, delivered });
    const firstKept = this.#samples.findLastIndex(({ atMs }) => atMs <= nowMs - AVERAGE_MS);
    if (firstKept > 0) this.#samples = this.#samples.slice(firstKept);
  }

  /** `total`: records of the whole run; undefined while they are being staged. */
  measure({ read, delivered }: RecordCounts, total: number | undefined, nowMs: number): Speed {
    const first = this.#samples[0];
    const elapsedMs = first === undefined ? 0 : nowMs - first.atMs;
    if (first === undefined || elapsedMs < SAMPLE_EVERY_MS)
      return { recordsPerSecond: 0, secondsLeft: undefined, heldByBudget: false };
    const before = this.#samples.findLast(({ atMs }) => atMs <= nowMs - WINDOW_MS) ?? first;
    return {
      recordsPerSecond: ((read - before.read) * 1000) / Math.min(elapsedMs, WINDOW_MS),
      heldByBudget:
        delivered - before.delivered >=
        BUDGET_BOUND * (this.#budget?.eventsPerMinute ?? Number.POSITIVE_INFINITY),
      secondsLeft: total === undefined ? undefined : this.#measureLeft({ read, delivered }, total, nowMs),
    };
  }

  #measureLeft(
    { read, delivered }: Pick<RecordCounts, 'read' | 'delivered'>,
    total: number,
    nowMs: number,
  ): number | undefined {
    if (read === 0) return undefined;
    const records = Math.max(0, total - read);
    const share = (delivered + FIRST_RECORDS) / (read + FIRST_RECORDS);
    const left = this.#budget === undefined ? records : Math.ceil(records * share);
    const ms = estimateMsLeft(this.#samples, left, this.#budget, nowMs);
    return ms === undefined ? undefined : ms / 1000;
  }
}

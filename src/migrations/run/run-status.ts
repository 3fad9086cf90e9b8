import { addCounts, zeroCounts } from '../../contract/counts.ts';
import type { RecordCounts, Tally } from '../../contract/progress.ts';
import { type Speed, Speedometer } from './speed.ts';
import type { Budget } from './time-left.ts';

/** How far a run is, for whoever watches it. */
export interface RunStatus {
  readonly phase: 'stage' | 'count' | 'import' | 'people' | 'report';
  readonly files: { readonly staged: number; readonly total: number };
  readonly parts: { readonly done: number; readonly known: number };
  /** Records with an outcome, those of parts still open included. */
  readonly counts: RecordCounts;
  /** Events of these records that were accepted. */
  readonly events: number;
  /** Records staged so far; all of them once every file is staged. */
  readonly staged: number;
  readonly personJobs: { readonly done: number; readonly total: number };
  /** Parts whose events were counted, before the first one is sent. */
  readonly countedParts: number;
  /** What is down and waited for, and why; undefined while nothing is. */
  readonly waitingFor: string | undefined;
  /** Of this run: what an earlier one imported counts as done, and takes no time. */
  readonly speed: Speed;
}

export interface StatusBoardOptions {
  /** Undefined where nothing limits the events. */
  readonly budget: Budget | undefined;
  /** Of a clock that never goes back. */
  readonly nowMs: () => number;
}

/** How far a part is: outcomes of its records, and events that were accepted. */
interface PartProgress {
  readonly counts: RecordCounts;
  readonly events: number;
}

const NOTHING: PartProgress = { counts: zeroCounts(), events: 0 };

const add = (a: PartProgress, b: PartProgress): PartProgress => ({
  counts: addCounts(a.counts, b.counts),
  events: a.events + b.events,
});

/** Adds up receipts and the progress of running jobs, and passes every change on. */
export class StatusBoard {
  #phase: RunStatus['phase'] = 'stage';
  #settled: PartProgress = NOTHING;
  /** Of parts that an earlier run finished. */
  #earlier: PartProgress = NOTHING;
  readonly #running = new Map<string, PartProgress>();
  readonly #onChange: (status: RunStatus) => void;
  readonly files = { staged: 0, total: 0 };
  readonly parts = { done: 0, known: 0 };
  readonly personJobs = { done: 0, total: 0 };
  countedParts = 0;
  #staged = 0;
  #waitingFor: string | undefined;
  #storageTrouble: string | undefined;
  /** Why a queue gives out no jobs, by its jobs. */
  readonly #holds = new Map<string, string>();
  /** What the destination answers instead of taking events, by part. */
  readonly #refusals = new Map<string, string>();
  readonly #speedometer: Speedometer;
  readonly #nowMs: () => number;

  constructor(onChange: (status: RunStatus) => void, { budget, nowMs }: StatusBoardOptions) {
    this.#onChange = onChange;
    this.#speedometer = new Speedometer(budget);
    this.#nowMs = nowMs;
  }

  setPhase(phase: RunStatus['phase']): void {
    this.#phase = phase;
    this.changed();
  }

  setWaitingFor(what: string | undefined): void {
    this.#waitingFor = what;
    this.changed();
  }

  /** `trouble`: undefined once staging and source answer again. */
  setStorageTrouble(trouble: string | undefined): void {
    this.#storageTrouble = trouble;
    this.changed();
  }

  /** `why`: undefined once its queue gives out jobs again. */
  setHold(jobs: string, why: string | undefined): void {
    if (why === undefined) this.#holds.delete(jobs);
    else this.#holds.set(jobs, why);
    this.changed();
  }

  addPart(records: number): void {
    this.parts.known += 1;
    this.#staged += records;
    this.changed();
  }

  setProgress(part: string, counts: RecordCounts, events: number): void {
    this.#running.set(part, { counts, events });
    this.changed();
  }

  /** `what`: undefined once nothing is. */
  setRefusal(part: string, what: string | undefined): void {
    if (what === undefined) this.#refusals.delete(part);
    else this.#refusals.set(part, what);
    this.changed();
  }

  finishPart(part: string, { counts, events }: Pick<Tally, 'counts' | 'events'>): void {
    this.#running.delete(part);
    this.#refusals.delete(part);
    this.#settled = add(this.#settled, { counts, events: events.accepted });
    this.parts.done += 1;
    this.changed();
  }

  /** A part that has its receipt from an earlier run. */
  addFinishedPart(part: string, { counts, events }: Pick<Tally, 'counts' | 'events'>): void {
    this.#running.delete(part);
    this.#earlier = add(this.#earlier, { counts, events: events.accepted });
    this.parts.done += 1;
    this.changed();
  }

  changed(): void {
    this.#onChange(this.getStatus());
  }

  getStatus(): RunStatus {
    const own = [...this.#running.values()].reduce(add, this.#settled);
    const all = add(own, this.#earlier);
    return {
      phase: this.#phase,
      files: { ...this.files },
      parts: { ...this.parts },
      counts: all.counts,
      events: all.events,
      staged: this.#staged,
      personJobs: { ...this.personJobs },
      countedParts: this.countedParts,
      waitingFor:
        this.#waitingFor ?? this.#storageTrouble ?? [...this.#holds.values()][0] ?? this.#describeRefusal(),
      speed: this.#measureSpeed(own.counts),
    };
  }

  #describeRefusal(): string | undefined {
    const [first] = this.#refusals.values();
    return first === undefined ? undefined : `the destination: ${first}`;
  }

  #measureSpeed(own: RecordCounts): Speed {
    const nowMs = this.#nowMs();
    if (this.#phase === 'import') this.#speedometer.add(own, nowMs);
    const { staged, total } = this.files;
    const records = staged === total ? this.#staged - this.#earlier.counts.read : undefined;
    return this.#speedometer.measure(own, records, nowMs);
  }
}

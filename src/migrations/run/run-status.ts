import { addCounts, zeroCounts } from '../../contract/counts.ts';
import type { RecordCounts } from '../../contract/progress.ts';

/** How far a run is, for whoever watches it. */
export interface RunStatus {
  readonly phase: 'stage' | 'count' | 'import' | 'people' | 'report';
  readonly files: { readonly staged: number; readonly total: number };
  readonly parts: { readonly done: number; readonly known: number };
  /** Records with an outcome, those of parts still open included. */
  readonly counts: RecordCounts;
  /** Records staged so far; all of them once every file is staged. */
  readonly staged: number;
  readonly personJobs: { readonly done: number; readonly total: number };
  /** Parts whose events were counted, before the first one is sent. */
  readonly countedParts: number;
  /** What is down and waited for, and why; undefined while nothing is. */
  readonly waitingFor: string | undefined;
}

/** Adds up receipts and the progress of running jobs, and passes every change on. */
export class StatusBoard {
  #phase: RunStatus['phase'] = 'stage';
  #settled = zeroCounts();
  readonly #running = new Map<string, RecordCounts>();
  readonly #onChange: (status: RunStatus) => void;
  readonly files = { staged: 0, total: 0 };
  readonly parts = { done: 0, known: 0 };
  readonly personJobs = { done: 0, total: 0 };
  countedParts = 0;
  #staged = 0;
  #waitingFor: string | undefined;

  constructor(onChange: (status: RunStatus) => void) {
    this.#onChange = onChange;
  }

  setPhase(phase: RunStatus['phase']): void {
    this.#phase = phase;
    this.changed();
  }

  setWaitingFor(what: string | undefined): void {
    this.#waitingFor = what;
    this.changed();
  }

  addPart(records: number): void {
    this.parts.known += 1;
    this.#staged += records;
    this.changed();
  }

  setProgress(part: string, counts: RecordCounts): void {
    this.#running.set(part, counts);
    this.changed();
  }

  finishPart(part: string, counts: RecordCounts): void {
    this.#running.delete(part);
    this.#settled = addCounts(this.#settled, counts);
    this.parts.done += 1;
    this.changed();
  }

  changed(): void {
    this.#onChange(this.getStatus());
  }

  getStatus(): RunStatus {
    return {
      phase: this.#phase,
      files: { ...this.files },
      parts: { ...this.parts },
      counts: [...this.#running.values()].reduce(addCounts, this.#settled),
      staged: this.#staged,
      personJobs: { ...this.personJobs },
      countedParts: this.countedParts,
      waitingFor: this.#waitingFor,
    };
  }
}

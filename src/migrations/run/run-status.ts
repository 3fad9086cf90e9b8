import { addCounts, zeroCounts } from '../../contract/counts.ts';
import type { RecordCounts } from '../../contract/progress.ts';

/** What a person sees of a run while it goes on. */
export interface RunStatus {
  readonly phase: 'stage' | 'import' | 'people' | 'report';
  readonly files: { readonly staged: number; readonly total: number };
  readonly parts: { readonly done: number; readonly known: number };
  /** Records with an outcome, those of parts still open included. */
  readonly counts: RecordCounts;
  /** Records staged so far; all of them once every file is staged. */
  readonly staged: number;
  readonly peopleJobs: { readonly done: number; readonly total: number };
}

/** Adds up what receipts and running jobs tell. */
export class StatusBoard {
  #phase: RunStatus['phase'] = 'stage';
  #settled = zeroCounts();
  readonly #running = new Map<string, RecordCounts>();
  readonly #onChange: (status: RunStatus) => void;
  readonly files = { staged: 0, total: 0 };
  readonly parts = { done: 0, known: 0 };
  readonly peopleJobs = { done: 0, total: 0 };
  #staged = 0;

  constructor(onChange: (status: RunStatus) => void) {
    this.#onChange = onChange;
  }

  phase(phase: RunStatus['phase']): void {
    this.#phase = phase;
    this.changed();
  }

  partKnown(records: number): void {
    this.parts.known += 1;
    this.#staged += records;
    this.changed();
  }

  partRunning(part: string, counts: RecordCounts): void {
    this.#running.set(part, counts);
    this.changed();
  }

  partDone(part: string, counts: RecordCounts): void {
    this.#running.delete(part);
    this.#settled = addCounts(this.#settled, counts);
    this.parts.done += 1;
    this.changed();
  }

  changed(): void {
    this.#onChange(this.status());
  }

  status(): RunStatus {
    return {
      phase: this.#phase,
      files: { ...this.files },
      parts: { ...this.parts },
      counts: [...this.#running.values()].reduce(addCounts, this.#settled),
      staged: this.#staged,
      peopleJobs: { ...this.peopleJobs },
    };
  }
}

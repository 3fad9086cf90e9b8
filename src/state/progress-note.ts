import { type RecordCounts, recordCounts } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout } from './keys.ts';

const WRITE_EVERY_MS = 2_000;

export interface ProgressNote {
  /** Writes the last state down and ends. */
  close(): Promise<void>;
}

/**
 * Keeps a note in staging of how far a run is, parts under way included, for whoever asks for the status:
 * checkpoints lie in a Redis that may not run then, and receipts come when a part is done. A note decides
 * nothing, and one that cannot be written is left out.
 */
export function keepProgressNote(staging: Staging, name: string, counts: () => RecordCounts): ProgressNote {
  let written = '';
  let writing = Promise.resolve();
  const write = () => {
    writing = writing
      .then(async () => {
        const now = counts();
        if (JSON.stringify(now) === written) return;
        await staging.put(layout(name).progress, encodeDocument(now));
        written = JSON.stringify(now);
      })
      .catch(() => {});
    return writing;
  };
  const timer = setInterval(write, WRITE_EVERY_MS).unref();
  return {
    close() {
      clearInterval(timer);
      return write();
    },
  };
}

/** Undefined before the first one. */
export async function loadProgressNote(staging: Staging, name: string): Promise<RecordCounts | undefined> {
  return loadDocument(recordCounts, layout(name).progress, staging);
}

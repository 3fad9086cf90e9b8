import { addCounts, zeroCounts } from '../../contract/counts.ts';
import type { SkipReason } from '../../contract/outcome.ts';
import type { PartMeta } from '../../contract/part.ts';
import type { Receipt, RecordCounts } from '../../contract/progress.ts';
import { REPEATED } from '../../pipeline/outcomes.ts';
import { parseSliceId } from '../../state/keys/parts.ts';

/** A file, or a group of small ones, and how far it is. */
export interface FileTotals {
  readonly file: string;
  readonly parts: { readonly done: number; readonly staged: number };
  /** Staged. */
  readonly records: number;
  /** Of parts with a receipt, by UTC day of the source time, or `unknown`. */
  readonly byDay: ReadonlyMap<string, RecordCounts>;
}

/** What parts and receipts add up to. */
export interface Totals {
  readonly parts: { readonly done: number; readonly staged: number };
  readonly records: { readonly staged: number };
  /** Unpacked, as staged. */
  readonly bytes: { readonly staged: number; readonly imported: number };
  readonly counts: RecordCounts;
  /** Accepted by the destination. */
  readonly events: number;
  readonly byReason: ReadonlyMap<string, number>;
  readonly files: readonly FileTotals[];
}

interface File {
  file: string;
  done: number;
  staged: number;
  records: number;
  readonly byDay: Map<string, RecordCounts>;
}

/** Adds descriptions of parts and receipts up, each of which is passed once. */
export class TotalsBuilder {
  readonly #bytesOf = new Map<string, number>();
  readonly #files = new Map<string, File>();
  readonly #byReason = new Map<string, number>();
  #parts = { done: 0, staged: 0 };
  #records = 0;
  #bytes = { staged: 0, imported: 0 };
  #counts = zeroCounts();
  #events = 0;

  addPart({ id, fileId, file, records, bytes }: PartMeta): void {
    const of = this.#getFile(fileId, file);
    of.staged += 1;
    of.records += records;
    of.file = file;
    this.#records += records;
    this.#bytes.staged += bytes;
    this.#parts.staged += 1;
    // A receipt that is read before its part is counted with it.
    if (this.#bytesOf.has(id)) this.#bytes.imported += bytes;
    else this.#bytesOf.set(id, bytes);
  }

  addReceipt({ part, file, tally }: Receipt): void {
    const of = this.#getFile(parseSliceId(part), file);
    of.done += 1;
    for (const [day, counts] of Object.entries(tally.byDay)) {
      of.byDay.set(day, addCounts(of.byDay.get(day) ?? zeroCounts(), counts));
    }
    for (const [reason, count] of Object.entries(tally.byReason)) {
      this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count);
    }
    this.#counts = addCounts(this.#counts, tally.counts);
    this.#events += tally.events.accepted;
    this.#parts.done += 1;
    const bytes = this.#bytesOf.get(part);
    if (bytes === undefined) this.#bytesOf.set(part, 0);
    else this.#bytes.imported += bytes;
  }

  build(): Totals {
    return {
      parts: { ...this.#parts },
      records: { staged: this.#records },
      bytes: { ...this.#bytes },
      counts: this.#counts,
      events: this.#events,
      byReason: this.#byReason,
      files: [...this.#files.values()].map(({ file, done, staged, records, byDay }) => ({
        file,
        parts: { done, staged },
        records,
        byDay,
      })),
    };
  }

  #getFile(fileId: string, file: string): File {
    const known = this.#files.get(fileId);
    if (known) return known;
    const fresh: File = { file, done: 0, staged: 0, records: 0, byDay: new Map() };
    this.#files.set(fileId, fresh);
    return fresh;
  }
}

const SKIP_REASONS: Readonly<Record<SkipReason, true>> = {
  feeds_people: true,
  feeds_groups: true,
  session_marker: true,
  excluded_by_manifest: true,
  no_items: true,
  sent_before: true,
  merged_ids: true,
  before_window: true,
  after_window: true,
};

/** The outcome that a reason belongs to. */
export function toOutcome(reason: string): 'skipped' | 'duplicate' | 'rejected' {
  if (Object.hasOwn(SKIP_REASONS, reason)) return 'skipped';
  return reason === REPEATED ? 'duplicate' : 'rejected';
}

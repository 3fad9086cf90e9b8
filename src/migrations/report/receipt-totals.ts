import { addCounts, zeroCounts } from '../../contract/counts.ts';
import type { Receipt, RecordCounts, Tally } from '../../contract/progress.ts';
import { TallyBuilder } from '../../pipeline/tally.ts';
import { parseSliceId } from '../../state/keys/parts.ts';

export interface FileTotals {
  readonly parts: number;
  readonly counts: RecordCounts;
}

/** Adds receipts up one by one: there may be tens of thousands. */
export class ReceiptTotals {
  readonly #tally = new TallyBuilder();
  readonly #byFile = new Map<string, FileTotals>();
  readonly #bySlice = new Map<string, FileTotals>();
  readonly #readByPart = new Map<string, number>();
  readonly #mappings = new Set<string>();
  #hasSeveral = false;

  add(receipt: Receipt): void {
    if (this.#readByPart.has(receipt.part)) return; // a part has one receipt, however often it is listed
    this.#readByPart.set(receipt.part, receipt.tally.counts.read);
    this.#mappings.add(receipt.mapping);
    this.#tally.addTally(receipt.tally);
    const byFile = receipt.byFile ?? { [receipt.file]: receipt.tally.counts };
    for (const [file, counts] of Object.entries(byFile)) addFile(this.#byFile, file, counts);
    addFile(this.#bySlice, parseSliceId(receipt.part), receipt.tally.counts);
    if ((receipt.fingerprints?.eventRows ?? 0) > 0) this.#hasSeveral = true;
  }

  /** Whether events were accepted of records that are several. */
  get hasSeveral(): boolean {
    return this.#hasSeveral;
  }

  get tally(): Tally {
    return this.#tally.build();
  }

  get byFile(): ReadonlyMap<string, FileTotals> {
    return this.#byFile;
  }

  /** By id: a file, or a group of small ones. */
  get bySlice(): ReadonlyMap<string, FileTotals> {
    return this.#bySlice;
  }

  get mappings(): ReadonlySet<string> {
    return this.#mappings;
  }

  /** Every part that has a receipt, with the records that were read of it. */
  *parts(): Generator<{ readonly id: string; readonly records: number }> {
    for (const [id, records] of this.#readByPart) yield { id, records };
  }

  /** Records read of a part, or undefined when it has no receipt. */
  getRead(part: string): number | undefined {
    return this.#readByPart.get(part);
  }
}

function addFile(totals: Map<string, FileTotals>, key: string, more: RecordCounts): void {
  const { parts, counts } = totals.get(key) ?? { parts: 0, counts: zeroCounts() };
  totals.set(key, { parts: parts + 1, counts: addCounts(counts, more) });
}

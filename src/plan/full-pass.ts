import type { Checkpoints } from '../checkpoint/redis-checkpoints.ts';
import type { Delivery } from '../contract/destination.ts';
import type { FindingsIndex, Receipt } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { BatchBuilder } from '../deliver/batch-builder.ts';
import { importPart } from '../import/import-part.ts';
import { cutSegments } from '../import/segments.ts';
import type { MapRecord } from '../map/source.ts';
import { BUCKETS } from '../people/bucket.ts';
import { FindingsFold } from '../people/findings-fold.ts';
import { foldBuckets } from '../people/fold-buckets.ts';
import { emptyPeopleTally, mergePeopleTally, type PeopleTally } from '../people/people-tally.ts';
import { resolveBuckets } from '../people/resolve-buckets.ts';
import { createRecordParser, type ParseRecord } from '../read/parse-record.ts';
import type { ReadOptions } from '../read/read-records.ts';
import { ReceiptTotals } from '../report/receipt-totals.ts';
import type { SourceFile } from '../source/source-file.ts';
import { listParts, loadPart } from '../stage/load-part.ts';
import { stageFile } from '../stage/stage-file.ts';

export interface FullPassInput {
  readonly staging: Staging;
  /** Of the migration, with its closing slash: a later run finds its parts staged. */
  readonly prefix: string;
  readonly files: readonly SourceFile[];
  readonly read: ReadOptions;
  readonly map: MapRecord;
  readonly addsExactNumbers: boolean;
  readonly groupIdentifyEvent: string;
  readonly overwritePeople: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (recordsRead: number) => void;
}

export interface FullPass {
  readonly totals: ReceiptTotals;
  readonly people: PeopleTally;
  readonly syntheticEvents: number;
}

/**
 * `plan --full`: stages everything and takes every record through the spine of an import, with a
 * destination that accepts all and receives nothing. What it counts is what a run would send.
 */
export async function fullPass(input: FullPassInput): Promise<FullPass> {
  const { staging, prefix, files, read, signal } = input;
  const totals = new ReceiptTotals();
  const findings: FindingsIndex[] = [];
  const scratch = `${prefix}plan/`;
  for (const file of files) await stageFile({ file, staging, prefix, read, signal });

  for await (const part of listParts(staging, prefix)) {
    const fold = new FindingsFold();
    let parse: ParseRecord;
    const receipt = await importPart(
      part,
      {
        checkpoints: forgetfulCheckpoints,
        async readRecords() {
          const { header, records } = await loadPart(staging, prefix, part);
          parse = createRecordParser(part.format, header);
          return [...records];
        },
        toSegments: (records, from) =>
          cutSegments(records, from, {
            understand(record) {
              const parsed = parse(record);
              if (parsed.kind === 'rejected') return { outcome: parsed, exact: false };
              return { outcome: input.map(parsed.value), exact: parsed.exact || input.addsExactNumbers };
            },
            batches: new BatchBuilder(),
            findings: fold,
          }),
        deliver: async ({ offsets }) => new Array<Delivery>(offsets.length - 1).fill({ kind: 'accepted' }),
        keepRejects: async (_rejects, _records, name) => name,
        async keepFindings(name) {
          if (fold.size === 0) return undefined;
          const { body, sections } = await fold.encode();
          const key = `${scratch}findings/${name}.gz`;
          await staging.put(key, body);
          return { key, sections };
        },
        loadReceipt: async () => undefined,
        createReceipt: async (made: Receipt) => made,
        onProgress: () => {},
        mapping: 'plan',
        batchesInFlight: 1,
      },
      signal,
    );
    totals.add(receipt);
    if (receipt.findings) findings.push(receipt.findings);
    input.onProgress(totals.tally.counts.read);
  }
  return { totals, ...(await passPeople(input, findings, scratch)) };
}

async function passPeople(
  { staging, signal, overwritePeople, groupIdentifyEvent }: FullPassInput,
  findings: readonly FindingsIndex[],
  scratch: string,
): Promise<{ people: PeopleTally; syntheticEvents: number }> {
  const all = { from: 0, to: BUCKETS, staging, signal };
  const resolved = await resolveBuckets({ ...all, prefix: `${scratch}people/`, findings });
  let people = mergePeopleTally(emptyPeopleTally(), resolved.people);
  let syntheticEvents = 0;
  const folded = foldBuckets({
    ...all,
    findings: resolved.findings,
    overwrite: overwritePeople,
    groupIdentifyEvent,
  });
  for await (const chunk of folded) {
    people = mergePeopleTally(people, chunk.people);
    syntheticEvents += chunk.events.length;
  }
  for await (const { key } of staging.list(scratch)) await staging.remove(key);
  return { people, syntheticEvents };
}

/** Nothing is sent, so nothing has to be remembered. */
const forgetfulCheckpoints: Checkpoints = {
  begin: async (part) => ({ fence: { part, epoch: 0, counter: 0 }, checkpoint: undefined }),
  save: async () => {},
  forget: async () => {},
};

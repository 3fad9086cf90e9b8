import type { PartMeta } from '../../src/contract/part.ts';
import type { Receipt } from '../../src/contract/progress.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { BatchBuilder } from '../../src/deliver/batch-builder.ts';
import { createUnlimitedBudget } from '../../src/deliver/budget.ts';
import { createDeliver, type Delivering } from '../../src/deliver/deliver.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { type ImportDeps, importPart } from '../../src/pipeline/import-part.ts';
import { cutSegments } from '../../src/pipeline/segments.ts';
import { stageFile } from '../../src/pipeline/stage/stage-file.ts';
import { createRecordParser } from '../../src/sources/formats/parse-record.ts';
import { getMappingName } from '../../src/sources/registry.ts';
import type { Checkpoints } from '../../src/state/checkpoints.ts';
import { saveFacts } from '../../src/state/facts.ts';
import { layout } from '../../src/state/keys.ts';
import { loadPart } from '../../src/state/parts.ts';
import { createReceipt, loadReceipt } from '../../src/state/receipts.ts';
import { putRejects } from '../../src/state/rejects.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { measure } from '../measure.ts';
import { openSource } from '../sample-input.ts';
import { createBenchMap } from '../source-maps.ts';
import type { Contender } from './contender.ts';

const MIGRATION = 'bench';
const REQUESTS_IN_FLIGHT = 4;

/**
 * The real thing in one process: staging in a folder, then the import of part after part, with
 * rejects, findings and receipts. Left out are Redis and its queue; checkpoints are serialised as for it.
 */
export const runBackhaul: Contender = async ({ input, url, folder }) => {
  const staging = createFolderStaging(folder);
  const { signal } = new AbortController();
  const parts: PartMeta[] = [];
  const receipts: Receipt[] = [];
  const delivering = createDeliver({
    destination: { url, apiKey: 'bench' },
    limits: { requestsInFlight: REQUESTS_IN_FLIGHT },
    budget: createUnlimitedBudget(),
    random: Math.random,
    now: Date.now,
    log: { debug: () => {}, info: () => {}, warn: () => {} },
  });

  const staged = await measure(async () => {
    const file = await openSource(input);
    const onPart = (part: PartMeta) => void parts.push(part);
    await stageFile({ file, staging, prefix: layout(MIGRATION).prefix, read: {}, onPart, signal });
  });
  const imported = await measure(async () => {
    for (const part of parts) {
      receipts.push(await importPart(part, depsFor(part, staging, delivering), signal));
    }
  });
  await delivering.close();

  const sum = (of: (receipt: Receipt) => number) =>
    receipts.reduce((total, receipt) => total + of(receipt), 0);
  return {
    records: sum(({ tally }) => tally.counts.read),
    sent: sum(({ tally }) => tally.events.accepted),
    phases: { stage: staged, import: imported },
  };
};

function depsFor(part: PartMeta, staging: Staging, { deliver }: Delivering): ImportDeps {
  const keys = layout(MIGRATION);
  const findings = new FactFold();
  const parse = createRecordParser(part.format, undefined);
  const map = createBenchMap('amplitude');
  return {
    checkpoints: createCheckpointsInMemory(),
    readRecords: async () => [...(await loadPart(staging, keys.prefix, part)).records],
    toSegments: (records, from) =>
      cutSegments(records, from, {
        understand(record) {
          const parsed = parse(record);
          return parsed.kind === 'rejected' ? parsed : map(parsed.value);
        },
        batches: new BatchBuilder(),
        findings,
      }),
    deliver,
    keepRejects: (rejects, records, name) =>
      putRejects(staging, MIGRATION, name, part, undefined, rejects, records),
    async keepFindings(name) {
      return saveFacts(staging, keys.findings(name), findings.stored());
    },
    loadReceipt: (id) => loadReceipt(staging, MIGRATION, id),
    createReceipt: (receipt) => createReceipt(staging, MIGRATION, receipt),
    onProgress: () => {},
    mapping: getMappingName('amplitude'),
    batchesInFlight: REQUESTS_IN_FLIGHT,
  };
}

function createCheckpointsInMemory(): Checkpoints {
  let saved: string | undefined;
  return {
    begin: async (part) => ({ fence: { part, epoch: 1, counter: 1 }, checkpoint: undefined }),
    async save(_fence, checkpoint) {
      saved = JSON.stringify(checkpoint);
    },
    async forget({ part }) {
      if (saved === undefined) throw new Error(`part ${part} was never saved`);
    },
  };
}

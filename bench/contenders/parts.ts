import type { PartMeta } from '../../src/contract/part.ts';
import type { Receipt } from '../../src/contract/progress.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { DEFAULT_BATCH_LIMITS } from '../../src/deliver/batch-builder.ts';
import { createUnlimitedBudget } from '../../src/deliver/budget/budget.ts';
import { createDeliver, type Delivering } from '../../src/deliver/deliver.ts';
import { type ImportDeps, importPart } from '../../src/pipeline/import-part.ts';
import { planSpace } from '../../src/pipeline/stage/plan-space.ts';
import { stageSlice } from '../../src/pipeline/stage/stage-slice.ts';
import { getMappingName } from '../../src/sources/registry.ts';
import type { Checkpoints } from '../../src/state/checkpoints.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { createPartStore } from '../../src/state/part-store.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { measure } from '../lab/measure.ts';
import { createSlice } from '../sample-input.ts';
import { createBenchMap } from '../source-maps.ts';
import type { Contender } from './contender.ts';

const MIGRATION = 'bench';
const REQUESTS_IN_FLIGHT = 4;

/**
 * Backhaul without Redis and its queue, in one process: staging in a folder, then the import of part after
 * part, with rejects, identity facts and receipts. Checkpoints are serialised as for Redis.
 */
export const runParts: Contender = async ({ input, url, folder }) => {
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
    const slice = await createSlice(input);
    const onPart = (part: PartMeta) => void parts.push(part);
    const { packing } = await planSpace(staging, [slice]);
    await stageSlice({ slice, staging, prefix: layout(MIGRATION).prefix, packing, onPart, signal });
  });
  const imported = await measure(async () => {
    for (const part of parts) {
      receipts.push(await importPart(part, createDeps(staging, delivering), signal));
    }
  });
  await delivering.close();

  const sumReceipts = (of: (receipt: Receipt) => number) =>
    receipts.reduce((total, receipt) => total + of(receipt), 0);
  return {
    records: sumReceipts(({ tally }) => tally.counts.read),
    sent: sumReceipts(({ tally }) => tally.events.accepted),
    phases: { stage: staged, import: imported },
  };
};

function createDeps(staging: Staging, { deliver }: Delivering): ImportDeps {
  return {
    checkpoints: createCheckpointsInMemory(),
    store: createPartStore(staging, { name: MIGRATION, id: MIGRATION }),
    map: createBenchMap('amplitude'),
    mapping: getMappingName('amplitude'),
    batch: DEFAULT_BATCH_LIMITS,
    deliver,
    requestsInFlight: REQUESTS_IN_FLIGHT,
    onProgress: () => {},
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

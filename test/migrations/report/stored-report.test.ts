import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findReportKey } from '../../../src/migrations/report/report.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { openEpoch } from '../../../src/state/epochs.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { removeOfOlderEpochs } from '../../../src/state/numbered.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const ID = 'a0b1c2d3-4e5f-6071-8293-a4b5c6d7e8f9';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-reports-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the report of an epoch is the last one until another epoch begins, however late it is written', async () => {
  const staging = createFolderStaging(folder);
  const keys = layout('shop');
  const open = (epoch: number) =>
    openEpoch(staging, 'shop', epoch, { openedAt: '', manifest: {}, baseDir: '/' });
  const write = (epoch: number) => staging.put(keys.report(epoch, ID), encodeDocument({}));
  expect(await findReportKey(staging, 'shop')).toBe(keys.oldReport);
  await open(1);
  await write(1);
  expect(await findReportKey(staging, 'shop')).toBe(keys.report(1, ID));
  await open(2);
  expect(await findReportKey(staging, 'shop')).toBeUndefined();
  await removeOfOlderEpochs(staging, { name: 'shop', id: ID }, 2);
  await write(2);
  await write(1); // by the producer of the first, which slept
  expect(await findReportKey(staging, 'shop')).toBe(keys.report(2, ID));
  await removeOfOlderEpochs(staging, { name: 'shop', id: ID }, 1);
  expect(await staging.get(keys.report(2, ID))).toBeDefined();
});

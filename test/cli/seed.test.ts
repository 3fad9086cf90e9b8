import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAllBackhaul, runBackhaul, startBackhaul, waitForServices } from '../support/backhaul-process.ts';
import { readyDataDir } from '../support/ready-data-dir.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-seed-'));
}, 300_000);
afterAll(async () => {
  await killAllBackhaul();
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

test('the bundled API has the cohorts that BACKHAUL_SEED declares', async () => {
  const seed = join(folder, 'seed.yaml');
  await writeFile(
    seed,
    [
      'cohorts:',
      '  - name: Pro',
      '    filters: { properties: { type: AND, values: [{ key: plan, value: pro, type: person }] } }',
    ].join('\n'),
  );
  const dataDir = await readyDataDir(join(folder, 'good'));
  const server = startBackhaul(['serve'], { dataDir, env: { BACKHAUL_SEED: seed } });
  const { api } = await waitForServices(dataDir, server);
  const response = await fetch(`${api?.url}/api/projects/@current/cohorts/`, {
    headers: { authorization: `Bearer ${api?.personalKey}` },
  });
  expect(await response.json()).toMatchObject({ results: [{ name: 'Pro', count: 0, is_static: false }] });
}, 120_000);

test('a cohort that cannot be is named, and nothing starts', async () => {
  const seed = join(folder, 'bad.yaml');
  await writeFile(seed, 'cohorts: [{ name: Empty }]');
  const dataDir = await readyDataDir(join(folder, 'bad'));
  const ended = await runBackhaul(['serve'], { dataDir, env: { BACKHAUL_SEED: seed } });
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain('BACKHAUL_SEED: cohort "Empty": A cohort takes at least one condition');
}, 120_000);

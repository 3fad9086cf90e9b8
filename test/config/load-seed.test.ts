import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSeed, parseSeed } from '../../config/load-seed.ts';
import { createSeedJsonSchema } from '../../config/seed.ts';
import { ConfigError } from '../../src/lib/errors.ts';

test('a seed is YAML or JSON, and most of it may be left out', async () => {
  const filters = { properties: { type: 'AND', values: [{ key: 'plan', value: 'pro', type: 'person' }] } };
  const cohorts = [{ name: 'Pro', description: '', is_static: false, filters }];
  expect(parseSeed(JSON.stringify({ cohorts: [{ name: 'Pro', filters }] }), 'seed.json')).toEqual({
    cohorts,
    flags: [],
  });
  const yaml = `
cohorts:
  - name: Hand-picked
    is_static: true`;
  expect(parseSeed(yaml, 'seed.yaml').cohorts).toEqual([
    { name: 'Hand-picked', description: '', is_static: true, filters: {} },
  ]);
  expect(parseSeed('', 'seed.yaml')).toEqual({ cohorts: [], flags: [] });

  const folder = await mkdtemp(join(tmpdir(), 'backhaul-seed-'));
  await writeFile(join(folder, 'seed.yaml'), yaml);
  expect((await loadSeed(join(folder, 'seed.yaml'))).cohorts).toHaveLength(1);
  await rm(folder, { recursive: true });
});

test('every mistake is named with its place', () => {
  const text = ['cohorts:', '  - name: ""', '  - name: A', '    static: true', 'dashboards: []'].join('\n');
  expect(() => parseSeed(text, 'seed.yaml')).toThrow(ConfigError);
  expect(() => parseSeed(text, 'seed.yaml')).toThrow(
    /seed\.yaml has 3 mistakes:\n {2}seed\.yaml:2:11 {2}cohorts\.0\.name: /,
  );
  expect(() => parseSeed('cohorts: [', 'seed.yaml')).toThrow(/seed\.yaml:1:\d+/);
  expect(() => parseSeed('cohorts: [{name: A}, {name: A}]', 's')).toThrow('two cohorts have the same name');
  expect(() => parseSeed('flags: [{key: a}, {key: a}]', 's')).toThrow('two flags have the same key');
  expect(() => parseSeed('flags: [{key: a b}]', 's')).toThrow(/s:1:\d+ {2}flags\.0\.key: Only letters/);
  const typed = (condition: string) => () =>
    parseSeed(`flags: [{key: a, filters: {groups: [${condition}]}}]`, 's');
  expect(typed('{propertys: []}')).toThrow(
    /s:1:\d+ {2}flags\.0\.filters\.groups\.0: Unknown field "propertys"; did you mean "properties"\?/,
  );
  expect(typed('{rolout_percentage: 0}')).toThrow('did you mean "rollout_percentage"?');
  expect(typed('{properties: [{key: a, value: 1, vallue: 2}]}')).toThrow('did you mean "value"?');
  expect(typed('{rollout_percentage: "20"}')).toThrow('Must be a number from 0 to 100.');
  expect(typed('{rollout_percentage: 20, description: "", sort_key: a}')().flags).toHaveLength(1);
  expect(() => parseSeed('5', 's')).toThrow(/the seed: /);
});

test('config/seed.schema.json is what the schema makes of it (UPDATE_GOLDEN=1 rewrites it)', async () => {
  const file = new URL('../../config/seed.schema.json', import.meta.url);
  if (process.env['UPDATE_GOLDEN'])
    await writeFile(file, `${JSON.stringify(createSeedJsonSchema(), null, 2)}\n`);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(createSeedJsonSchema());
});

test('a file that is not there is a mistake of the setting', async () => {
  await expect(loadSeed('/nowhere/seed.yaml')).rejects.toThrow(
    /^BACKHAUL_SEED: \/nowhere\/seed\.yaml cannot be read/,
  );
});

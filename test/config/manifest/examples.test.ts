import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { bindSource, SOURCE_TYPES } from '../../../src/sources/registry.ts';

const FOLDER = fileURLToPath(new URL('../../../examples/', import.meta.url));
const load = (type: string) =>
  loadManifest(`${FOLDER}${type}.yaml`, { env: { BACKHAUL_PROJECT_API_KEY: 'phc_x' } });

describe('examples', () => {
  test('there is one for each type of source', async () => {
    expect((await readdir(FOLDER)).toSorted()).toEqual(
      SOURCE_TYPES.map(({ example }) => basename(example)).toSorted(),
    );
  });

  test.each(SOURCE_TYPES.map(({ type }) => type))('%s.yaml loads, and its map can be made', async (type) => {
    const { manifest } = await load(type);
    expect(manifest.source.type).toBe(type);
    expect(bindSource(manifest.source).createMap()({})).toMatchObject({ kind: 'rejected' });
  });

  test('the record shown in jsonl.yaml becomes the event that its comments promise', async () => {
    const text = await readFile(`${FOLDER}jsonl.yaml`, 'utf8');
    const record = JSON.parse(/^# {3}(\{.*\})$/m.exec(text)?.[1] ?? '') as Record<string, unknown>;
    const outcome = bindSource((await load('jsonl')).manifest.source).createMap()(record);
    expect(outcome).toMatchObject({
      kind: 'mapped',
      events: [
        {
          event: 'Order placed',
          timestamp: '2023-05-01T11:45:00.000Z',
          properties: { distinct_id: '007', total: 12.5 },
        },
      ],
    });
  });

  test('the row shown in csv.yaml becomes the event that its comments promise', async () => {
    const row = {
      order_id: '4711',
      line: '1',
      created_ms: '1682942400000',
      customer: '007',
      company: 'acme',
      details: '{"total": 12.5}',
    };
    const outcome = bindSource((await load('csv')).manifest.source).createMap()(row);
    expect(outcome).toMatchObject({
      kind: 'mapped',
      events: [
        {
          event: 'Order placed',
          timestamp: '2023-05-01T12:00:00.000Z',
          properties: { distinct_id: '007', total: 12.5, $groups: { company: 'acme' } },
        },
      ],
    });
  });
});

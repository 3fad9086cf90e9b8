import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/lib/json/parse-json.ts';
import { stringifyJson } from '../../src/lib/json/stringify-json.ts';
import { createReadIso } from '../../src/sources/mapping/timestamp.ts';
import { SOURCE_TYPES } from '../../src/sources/registry.ts';
import { createMapper } from './create-mapper.ts';

/**
 * Every folder of test/golden/<source>/<case> holds records in the vendor's own shape and, in v1, v2, …, what
 * they become under that version of the mapping. Files of a released version never change: migrations are
 * pinned to it. `UPDATE_GOLDEN=1` rewrites those of the latest; the diff is then what a reviewer reads.
 */
const root = new URL('../golden/', import.meta.url);
const update = process.env['UPDATE_GOLDEN'] === '1';
const folders = (at: URL) =>
  readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

function readInput(folder: URL): Record<string, unknown>[] {
  const csv = new URL('input.csv', folder);
  if (existsSync(csv)) {
    return Papa.parse<Record<string, unknown>>(readFileSync(csv, 'utf8'), {
      header: true,
      skipEmptyLines: true,
    }).data;
  }
  return readFileSync(new URL('input.ndjson', folder), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => parseJson(line) as Record<string, unknown>);
}

const lines = (values: readonly unknown[]) => values.map((value) => `${stringifyJson(value)}\n`).join('');

function mapAll(source: string, folder: URL, version: number): Record<string, string> {
  const map = createMapper(source, readOptions(folder), { version });
  const expected: unknown[] = [];
  const rejected: unknown[] = [];
  const findings: unknown[] = [];
  readInput(folder).forEach((record, index) => {
    const outcome = map(record);
    const at = { record: index };
    if (outcome.kind === 'rejected') rejected.push({ ...at, reason: outcome.reason, detail: outcome.detail });
    else {
      if (outcome.userId !== undefined) findings.push({ ...at, kind: 'user', id: outcome.userId });
      findings.push(...outcome.facts.map((fact) => ({ ...at, ...fact })));
    }
    if (outcome.kind === 'mapped') expected.push(...outcome.events.map((event) => ({ ...at, ...event })));
    if (outcome.kind === 'skipped') expected.push({ ...at, skipped: outcome.reason });
  });
  return {
    'expected.ndjson': lines(expected),
    'rejected.ndjson': lines(rejected),
    'findings.ndjson': lines(findings),
  };
}

const inUtcMillis = (text: unknown) => createReadIso('UTC')(text) === text;

it('has a folder for every source, and none for another', () => {
  expect(folders(root).toSorted()).toEqual(SOURCE_TYPES.map(({ type }) => type).toSorted());
});

const VERSIONS = SOURCE_TYPES.flatMap(({ type, versions }) =>
  versions.map((version) => ({ source: type, version, isLatest: version === Math.max(...versions) })),
);

describe.each(VERSIONS)('$source@$version', ({ source, version, isLatest }) => {
  const home = new URL(`${source}/`, root);
  it.each(folders(home))('maps %s to its golden files', (name) => {
    const folder = new URL(`${name}/`, home);
    const results = mapAll(source, folder, version);
    const list = new URL(`v${version}/`, folder);
    if (update && isLatest) mkdirSync(list, { recursive: true });
    for (const [file, text] of Object.entries(results)) {
      const path = new URL(file, list);
      if (update && isLatest) writeFileSync(path, text);
      expect(text, path.pathname).toBe(readFileSync(path, 'utf8'));
    }
  });

  it.each(folders(home))('sends %s only in the form the contract takes', (name) => {
    const folder = new URL(`${name}/`, home);
    const map = createMapper(source, readOptions(folder), { version });
    let events = 0;
    for (const record of readInput(folder)) {
      const outcome = map(record);
      if (outcome.kind !== 'mapped') continue;
      for (const { event, uuid, timestamp, properties } of outcome.events) {
        events += 1;
        expect(event).toMatch(/^.{1,200}$/s);
        expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        expect(inUtcMillis(timestamp)).toBe(true);
        expect(properties.distinct_id).toMatch(/^.{1,200}$/s);
        expect(properties['$geoip_disable']).toBe(true);
        for (const never of ['sent_at', 'offset', '_', '$set', '$set_once', '$unset', '$anon_distinct_id']) {
          expect(Object.hasOwn(properties, never)).toBe(false);
        }
      }
    }
    expect(events).toBeGreaterThan(0);
  });
});

function readOptions(folder: URL): Record<string, unknown> {
  const file = new URL('options.json', folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>) : {};
}

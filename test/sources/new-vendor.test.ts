import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseManifest, parseStoredManifest } from '../../config/manifest/load-manifest.ts';
import { createManifestJsonSchema, type Manifest } from '../../config/manifest/manifest.ts';
import { mapped, rejected } from '../../src/contract/outcome.ts';
import type { Slice } from '../../src/contract/slice.ts';
import { checkHeaders } from '../../src/migrations/plan/check-headers.ts';
import { fullPass } from '../../src/migrations/plan/full-pass.ts';
import { makePlan } from '../../src/migrations/plan/make-plan.ts';
import { renderSupportRequest } from '../../src/migrations/plan/support-request.ts';
import { timezone } from '../../src/sources/common-options.ts';
import { defineFileSource } from '../../src/sources/files/define-file-source.ts';
import { createFileId } from '../../src/sources/files/source-file.ts';
import type { RecordChunk } from '../../src/sources/formats/read-records.ts';
import { createEventId } from '../../src/sources/mapping/event-id.ts';
import { bindSource, getMappingName, SOURCE_TYPES, type SourceTypes } from '../../src/sources/registry.ts';
import { renderSourcesTable } from '../../src/sources/render-sources-table.ts';
import {
  type MapRecord,
  type SourceContext,
  type SourceType,
  toSourceSlice,
} from '../../src/sources/source.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

/**
 * A vendor is a folder and its line in the registry. Here the folder is this file, and the registry has
 * one line more: all else is the real code. One vendor exports files, the other answers an API.
 */

const mapVisit: MapRecord = ({ who, what, at }) =>
  typeof who === 'string' && typeof what === 'string' && typeof at === 'string'
    ? mapped([
        {
          event: what,
          uuid: createEventId(['visits', who, at]),
          timestamp: at,
          properties: { distinct_id: who },
        },
      ])
    : rejected('bad_field', 'a visit has who, what and at');

const facts = {
  knownFields: () => new Set(['who', 'what', 'at']),
  example: 'examples/visits.yaml',
} as const;

const visits = defineFileSource({
  ...facts,
  type: 'visits',
  options: z.strictObject({ prefix: z.string().default('').describe('Put in front of event names.') }),
  maps: {
    3:
      ({ prefix }) =>
      (record) =>
        mapVisit({ ...record, what: `${prefix}${String(record['what'])}` }),
  },
  exportName: 'Visits export',
  docs: { reads: 'JSON lines', notes: 'visits' },
});

/** Pages of an API, a day a window. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '2024-01-01': ['{"who":"u-1","what":"Came","at":"2024-01-01T10:00:00.000Z"}', '{"who":7}'],
  '2024-01-02': ['{"who":"u-2","what":"Came","at":"2024-01-02T10:00:00.000Z"}'],
};

const visitsApiBlock = z.strictObject({
  type: z.literal('visits_api'),
  timezone,
  days: z.array(z.string()).min(1).describe('Days to fetch.'),
});
const visitsApi: SourceType = {
  ...facts,
  type: 'visits_api',
  versions: [3],
  block: visitsApiBlock,
  exportName: 'Visits API',
  docs: { reads: 'its API', notes: 'a day a window' },
  bind(block) {
    const { days } = visitsApiBlock.parse(block);
    return {
      createMap: () => mapVisit,
      checksHeaders: false,
      discover: async () =>
        days.map((day): Slice => {
          const name = `visits_api ${day}`;
          return { fileId: createFileId(name), name, bytes: 0, modified: '', location: 'shared' };
        }),
      async *open({ name }, _context, onBytes): AsyncGenerator<RecordChunk> {
        const texts = PAGES[name.replace('visits_api ', '')] ?? [];
        for (const [index, text] of texts.entries()) {
          const bytes = Buffer.from(text);
          onBytes(bytes);
          const record = { kind: 'record', member: undefined, line: index + 1, bytes } as const;
          yield { format: { kind: 'json' }, header: undefined, records: [record] };
        }
      },
    };
  },
};

const TYPES: SourceTypes = [...SOURCE_TYPES, visits, visitsApi];

let baseDir: string;
beforeAll(async () => {
  baseDir = await mkdtemp(join(tmpdir(), 'backhaul-new-vendor-'));
  const lines = Object.values(PAGES).flat().join('\n');
  await writeFile(join(baseDir, 'visits.jsonl'), `${lines}\n`);
});
afterAll(() => rm(baseDir, { recursive: true, force: true }));

const parse = (source: string, types?: SourceTypes) =>
  parseManifest(`name: visits\nsource: ${source}\n`, 'm.yaml', { env: {}, types }).manifest;

async function discover({ source: block }: Manifest) {
  const source = bindSource(block, TYPES);
  const context: SourceContext = { baseDir };
  return (await source.discover(context)).map((slice) => toSourceSlice(slice, source, context));
}

describe.each([
  ['of files', '{ type: visits, from: visits.jsonl }', 'visits', 'Visits export, 1 file'],
  [
    'with an API',
    '{ type: visits_api, days: ["2024-01-01", "2024-01-02"] }',
    'visits_api',
    'Visits API, 2 files',
  ],
])('a new vendor %s', (_, text, type, inRequest) => {
  it('is a type of source that manifests may name, and what staging keeps of one can be read', () => {
    const manifest = parse(text, TYPES);
    expect(manifest.source).toMatchObject({ type, timezone: 'UTC' });
    expect(parseStoredManifest(JSON.parse(JSON.stringify(manifest)), 'staging', TYPES)).toEqual(manifest);
    expect(getMappingName(type, TYPES)).toBe(`${type}@3`);
    expect(() => parse(text)).toThrow(
      /source\.type: takes amplitude, segment, rudderstack, jsonl or csv, not "visits/,
    );
  });

  it('is named in mistakes, with the keys of its own', () => {
    expect(() => parse('{ type: visit, from: x }', TYPES)).toThrow(
      /jsonl, csv, visits or visits_api.*did you mean "visits"/,
    );
    expect(() => parse(text.replace(' }', ', prefixx: a }'), TYPES)).toThrow(/source\.prefixx: unknown key/);
  });

  it('is in the JSON schema, and in the table of sources', () => {
    expect(JSON.stringify(createManifestJsonSchema(TYPES))).toContain(`"const":"${type}"`);
    expect(JSON.stringify(createManifestJsonSchema())).not.toContain(`"const":"${type}"`);
    expect(renderSourcesTable(TYPES)).toContain(`| \`${type}\` |`);
  });

  it('is planned: its sample is mapped, and the support request names it', async () => {
    const manifest = parse(text, TYPES);
    const slices = await discover(manifest);
    await checkHeaders(slices, manifest.source, TYPES);
    const plan = await makePlan(manifest, slices, new Date(), { recordsPerFile: 500, types: TYPES });
    expect(plan).toMatchObject({
      source: { type },
      eventsByName: [{ event: 'Came', inSample: 2 }],
      fields: { mapped: ['who', 'at', 'what'], unmapped: [] },
      rejects: [{ reason: 'bad_field', inSample: 1 }],
    });
    expect(renderSupportRequest(plan, plan.limits, TYPES).join('\n')).toContain(`Source: ${inRequest}`);
  });

  it('is staged, mapped, batched and counted by the pipeline of every source', async () => {
    const manifest = parse(text, TYPES);
    const source = bindSource(manifest.source, TYPES);
    const { totals } = await fullPass({
      staging: createFolderStaging(await mkdtemp(join(baseDir, 'staging-'))),
      scratch: '_plans/visits/',
      files: await discover(manifest),
      map: source.createMap(),
      batch: { events: 100, bytes: 1_000_000, eventBytes: 100_000 },
      groupIdentifyEvent: '$group_identify',
      overwritePeople: false,
      ledger: undefined,
      signal: new AbortController().signal,
      onBatch: () => {},
      onProgress: () => {},
    });
    expect(totals.tally.counts).toMatchObject({ read: 3, delivered: 2, rejected: 1 });
  });
});

it('the options of a new vendor reach its map', () => {
  const { source } = parse('{ type: visits, from: x, prefix: "web " }', TYPES);
  const outcome = bindSource(source, TYPES).createMap()({
    who: 'u',
    what: 'Came',
    at: '2024-01-01T10:00:00.000Z',
  });
  expect(outcome).toMatchObject({ kind: 'mapped', events: [{ event: 'web Came' }] });
});

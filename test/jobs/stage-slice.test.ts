import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChangedMember, payloads } from '../../jobs/catalog.ts';
import { stageSliceHandler } from '../../jobs/stage-slice.ts';
import { PART_MAX_RECORDS } from '../../src/contract/part.ts';
import type { Slice } from '../../src/contract/slice.ts';
import type { Staging } from '../../src/contract/staging.ts';
import { ConfigError, FencedOutError, SourceError, UnavailableError } from '../../src/lib/errors.ts';
import type { OpenMigration, OpenMigrations } from '../../src/migrations/open-migrations.ts';
import type { SourceSlice } from '../../src/sources/source.ts';
import type { MigrationRecord } from '../../src/state/migrations.ts';
import { listFileReceipts, listParts } from '../../src/state/parts.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { memorySlice } from '../sources/formats/memory-file.ts';

const mapNothing = () => {
  throw new Error('maps nothing');
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-stage-slice-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const never = new AbortController().signal;
const slice = {
  fileId: '0123456789ab',
  name: 's3://b/k',
  bytes: 8,
  modified: 'e',
  location: 'shared',
} as const;
const payload = { migration: 'm', id: 'm', epoch: 1, packing: 'none' as const, slice };

/** One open migration whose slices open as the test says. */
function createMigrations(
  openSlice: OpenMigration['openSlice'],
  files: MigrationRecord['files'] = [],
): OpenMigrations {
  const open: OpenMigration = {
    record: {
      id: 'm',
      name: 'm',
      identity: {},
      identitySha256: '',
      mapping: 'amplitude@1',
      destination: 'bundled API',
      files,
      createdAt: '',
      opening: { manifest: {}, baseDir: '/' },
    },
    epoch: 1,
    settings: {
      batch: { events: 1, bytes: 1, eventBytes: 1 },
      requestsInFlight: 1,
      overwritePeople: false,
      groupIdentifyEvent: 'x',
      ledger: { id: 'ledger', secret: '' },
    },
    maps: { vendor: mapNothing, record: mapNothing },
    deliver: async () => [],
    openSlice,
  };
  return {
    use: async (_of, outer, work) => work(open, outer),
    isWaiting: () => false,
    close: async () => {},
  };
}

async function stage(
  openSlice: OpenMigration['openSlice'],
  produces?: string,
  files?: MigrationRecord['files'],
  epochsInForce: readonly string[] = ['1'],
  changed: ChangedMember[] = [],
) {
  const staging: Staging = createFolderStaging(await mkdtemp(join(folder, 's-')));
  const progress: object[] = [];
  const answers = [...epochsInForce];
  const run = {
    signal: never,
    progress: (value: object) => void progress.push(value),
    log: pino({ level: 'silent' }),
  };
  const handler = stageSliceHandler({
    staging,
    redis: { hget: async () => answers.shift() ?? epochsInForce.at(-1) } as unknown as Redis,
    migrations: createMigrations(openSlice, files),
    produces,
  });
  const end = await handler({ ...payload, changed }, run).catch((error: unknown) => error);
  return { staging, progress, end };
}

const refusing = (error: Error) => (): SourceSlice => ({
  ...slice,
  readRecords: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }),
});

describe('the job stage-slice', () => {
  it('stages the slice and reports how many parts there are', async () => {
    const body = '{"a":1}\n'.repeat(PART_MAX_RECORDS + 1);
    const { staging, progress, end } = await stage(() => ({ ...memorySlice(body), ...slice }));
    expect(end).toEqual({ kind: 'done' });
    expect(progress).toEqual([{ parts: 1 }, { parts: 2 }]);
    const parts: string[] = [];
    for await (const { id } of listParts(staging, 'm/')) parts.push(id);
    expect(parts).toEqual([`${slice.fileId}/00000`, `${slice.fileId}/00001`]);
    for await (const receipt of listFileReceipts(staging, 'm/')) {
      expect(receipt).toMatchObject({ file: slice.name, parts: 2, fingerprint: { modified: 'e', bytes: 8 } });
    }
  });

  it('ends after one part where a newer epoch came into force meanwhile', async () => {
    const body = '{"a":1}\n'.repeat(3 * PART_MAX_RECORDS);
    const { staging, end } = await stage(
      () => ({ ...memorySlice(body), ...slice }),
      undefined,
      [],
      ['1', '2'],
    );
    expect(end).toBeInstanceOf(FencedOutError);
    const parts: string[] = [];
    for await (const { id } of listParts(staging, 'm/')) parts.push(id);
    expect(parts).toHaveLength(1);
  });

  it('stages a group of small files, whose members are in the record of the migration', async () => {
    const names = ['s3://b/1', 's3://b/2', 's3://b/3'];
    const bodies = new Map(names.map((name) => [name, `{"name":"${name}"}\n`]));
    const open = ({ name }: Slice): SourceSlice => ({
      ...memorySlice(bodies.get(name) ?? '', { name }),
      location: 'shared',
    });
    const files = names.map((name) => {
      const { fileId, bytes, modified } = open({ ...slice, name });
      return { fileId, name, bytes, modified, slice: slice.fileId };
    });
    const other = { fileId: 'ffffffffffff', name: 's3://b/other', bytes: 1, modified: 'e' };
    const { staging, end } = await stage(open, undefined, [...files, other]);
    expect(end).toEqual({ kind: 'done' });
    for await (const receipt of listFileReceipts(staging, 'm/')) {
      expect(receipt).toMatchObject({ fileId: slice.fileId, parts: 1, records: 3 });
      expect(receipt.files?.map(({ file }) => file)).toEqual(names);
    }
    for await (const part of listParts(staging, 'm/')) expect(part.records).toBe(3);
  });

  it('opens members of a group that have changed as they were found now', async () => {
    const opened: Slice[] = [];
    const members = ['s3://b/1', 's3://b/2'].map((name) => ({
      ...memorySlice('{}\n', { name }),
      modified: 'old',
    }));
    const open = (asked: Slice): SourceSlice => {
      opened.push(asked);
      return { ...memorySlice('{}\n', { name: asked.name }), location: 'shared' };
    };
    const files = members.map(({ fileId, name, bytes, modified }) => ({
      ...{ fileId, name, bytes, modified },
      slice: slice.fileId,
    }));
    const [, second] = files;
    if (!second) throw new Error('a group has members');
    const repaired = { fileId: second.fileId, bytes: 4, modified: 'new' };
    const { end } = await stage(open, undefined, files, ['1'], [repaired]);
    expect(end).toEqual({ kind: 'done' });
    expect(opened.map(({ name, bytes, modified }) => [name, bytes, modified])).toEqual([
      ['s3://b/1', 3, 'old'],
      ['s3://b/2', 4, 'new'],
    ]);
  });

  it('leaves to other workers what this one has no right to read', async () => {
    for (const produces of [undefined, 'another']) {
      const { end } = await stage(refusing(new ConfigError('the access key is refused')), produces);
      expect(end).toBeInstanceOf(UnavailableError);
      expect(String(end)).toMatch(/this worker cannot read s3:\/\/b\/k: the access key is refused/);
    }
  });

  it('fails for good where the producer itself has no right to read, as nobody else is sure to have it', async () => {
    const { end } = await stage(refusing(new ConfigError('the access key is refused')), 'm');
    expect(end).toEqual(new SourceError('the access key is refused'));
  });

  it('fails for good where the slice is broken, whoever reads it', async () => {
    const broken = new SourceError('s3://b/k is cut off');
    for (const produces of [undefined, 'm'])
      expect((await stage(refusing(broken), produces)).end).toBe(broken);
  });

  it('takes no slice that only its producer can open', () => {
    expect(payloads['stage-slice'].safeParse(payload).success).toBe(true);
    const local = { ...payload, slice: { ...slice, location: 'producer' } };
    expect(payloads['stage-slice'].safeParse(local).success).toBe(false);
  });
});

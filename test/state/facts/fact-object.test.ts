import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { FactsIndex } from '../../../src/contract/progress.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { getBucket } from '../../../src/state/bucket.ts';
import { parseStoredFact, type StoredFact } from '../../../src/state/facts/fact-line.ts';
import { readLines, saveFacts } from '../../../src/state/facts/fact-object.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { toWritable } from './lines.ts';

const folder = await mkdtemp(join(tmpdir(), 'backhaul-facts-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const facts: StoredFact[] = Array.from({ length: 500 }, (_, number) => ({
  kind: 'user',
  id: `üser "${number}"\n`,
}));

test('each bucket can be read alone, and neighbouring ones at once', async () => {
  const { key, sections } = await saveFacts(staging, 'f/all.gz', toWritable(facts));
  const apart: StoredFact[] = [];
  for (const { bucket, offset, length } of sections) {
    const read = [...(await readLines(staging, { key, offset, length })).parse(parseStoredFact)];
    for (const fact of read) expect(fact.kind === 'user' && getBucket(fact.id)).toBe(bucket);
    apart.push(...read);
  }
  const bytes = sections.reduce((sum, { length }) => sum + length, 0);
  const together = [...(await readLines(staging, { key, offset: 0, length: bytes })).parse(parseStoredFact)];
  expect(together).toEqual(apart);
  expect(new Set(apart.map((fact) => JSON.stringify(fact)))).toEqual(
    new Set(facts.map((fact) => JSON.stringify(fact))),
  );
});

test('lines of an object that is gone say which part is to be imported again', async () => {
  const missing = { key: 'shop/findings/0ee979ade56b/00000/1-1-2.gz', offset: 0, length: 1 };
  await expect(readLines(staging, missing)).rejects.toThrow(
    /is gone; .*remove shop\/receipts\/0ee979ade56b\/00000\.json and resume "shop"/,
  );
});

/** Staging whose space is paid for, and facts that are worth packing. */
const paid = { ...staging, freeBytes: undefined } as unknown as Staging;
const many: StoredFact[] = Array.from({ length: 9_000 }, (_, number) => ({
  kind: 'person',
  id: `person ${number}`,
  properties: '1\t2023-01-01T00:00:00.000Z\t{"plan":"team"}',
}));

test('facts are packed only where space is paid for and they are many', async () => {
  const [free, packed, few] = await Promise.all([
    saveFacts(staging, 'f/free', toWritable(many)),
    saveFacts(paid, 'f/packed', toWritable(many)),
    saveFacts(paid, 'f/few', toWritable(facts)),
  ]);
  expect([free.plain, packed.plain, few.plain]).toEqual([true, undefined, true]);
  const read = async ({ key, sections }: FactsIndex) => {
    const length = sections.reduce((sum, section) => sum + section.length, 0);
    return [...(await readLines(staging, { key, offset: 0, length })).parse(parseStoredFact)];
  };
  expect(await read(packed)).toEqual(await read(free));
});

test('a damaged object is named, with what to do about it', async () => {
  const { sections } = await saveFacts(paid, 'f/damaged.gz', toWritable(many));
  const body = (await staging.get('f/damaged.gz')) ?? Buffer.alloc(0);
  body.fill(0, 40, 60);
  await staging.put('f/damaged.gz', body);
  const reading = readLines(staging, { key: 'f/damaged.gz', offset: 0, length: sections[0]?.length ?? 0 });
  await expect(reading).rejects.toThrow(SourceError);
  await expect(reading).rejects.toThrow(/f\/damaged\.gz .* remove both f\/ and _migrations\/f\.json/);
});

test('text of which one character is another is named, whichever of several sections it is in', async () => {
  const { key, sections } = await saveFacts(staging, 'f/changed', toWritable(facts));
  const body = (await staging.get(key)) ?? Buffer.alloc(0);
  const length = body.length;
  for (const section of [sections[0], sections.at(-1)]) {
    const changed = Buffer.from(body);
    const at = (section?.offset ?? 0) + 14;
    changed[at] = (changed[at] ?? 0) ^ 1;
    await staging.put(key, changed);
    const reading = readLines(staging, { key, offset: 0, length, sections });
    await expect(reading).rejects.toThrow(/f\/changed .* is not what Backhaul wrote there; restore it/);
  }
  const earlier = sections.map(({ crc32: _, ...section }) => section);
  await expect(readLines(staging, { key, offset: 0, length, sections: earlier })).resolves.toBeDefined();
});

test.each([
  'nonsense',
  '00000000',
  '00000000u',
  '00000000z\t"u1"',
  '00000000x\t"u1"',
  '00000000p\t"u1"',
  '00000000p\tu1\t0',
  '00000000x\t"u1"\t1\t\t\t2\t"d1"\t2023-01-01T00:00:00.000Z\t0',
  '00000000v\t"p1"',
])('a line that is no fact is named, with its object: %s', async (line) => {
  const body = Buffer.from(`${line}\n`);
  await staging.put('f/foreign', body);
  const lines = await readLines(staging, { key: 'f/foreign', offset: 0, length: body.length });
  expect(() => [...lines.parse(parseStoredFact)]).toThrow(/f\/foreign .* remove both f\/ and/);
});

test('lines of version 0.1.0 are read', () => {
  const T1 = '2023-01-01T00:00:00.000Z';
  const T2 = '2023-01-02T00:00:00.000Z';
  const read = (fact: object) => parseStoredFact(JSON.stringify(fact));
  for (const fact of [
    { kind: 'user', id: 'u1' },
    { kind: 'pair', anonId: 'd1', userId: 'u1', time: T1 },
  ])
    expect(read(fact)).toEqual(fact);
  const set = [
    ['a', T1, '{"x":[1]}'],
    ['b', T2, '12345678901234567890'],
    ['c', T1, '"ü"'],
  ];
  expect(read({ kind: 'person', id: 'u1', set, setOnce: [['first', T2, 'null']] })).toEqual({
    kind: 'person',
    id: 'u1',
    properties: `2\t${T2}\t{"b":12345678901234567890}\t${T1}\t{"a":{"x":[1]},"c":"ü"}\t${T2}\t{"first":null}`,
  });
  expect(read({ kind: 'group', groupType: 'company', groupKey: 'k', time: T1, set: [] })).toEqual({
    kind: 'group',
    groupType: 'company',
    groupKey: 'k',
    time: T1,
    properties: '0',
  });
  expect(() => read({ kind: 'person', id: 'u1', set })).toThrow();
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SourceError } from '../../src/lib/errors.ts';
import { getBucket } from '../../src/state/bucket.ts';
import {
  encodeFacts,
  parseStoredFact,
  readLines,
  type StoredFact,
  saveFacts,
} from '../../src/state/facts.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'backhaul-facts-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const facts: StoredFact[] = Array.from({ length: 500 }, (_, number) => ({
  kind: 'user',
  id: `üser "${number}"\n`,
}));

test('each bucket can be read alone, and neighbouring ones at once', async () => {
  const { key, sections } = await saveFacts(staging, 'f/all.gz', facts);
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

test('a damaged object is named, with what to do about it', async () => {
  const { body } = await encodeFacts(facts);
  body.fill(0, 40, 60);
  await staging.put('f/damaged.gz', body);
  const reading = readLines(staging, { key: 'f/damaged.gz', offset: 0, length: body.length });
  await expect(reading).rejects.toThrow(SourceError);
  await expect(reading).rejects.toThrow(/f\/damaged\.gz .* remove both f\/ and _migrations\/f\.json/);
});

test('a line that is no fact is named, with its object', async () => {
  const { body } = await encodeFacts([{ kind: 'user', id: 'u1' }]);
  await staging.put('f/foreign.gz', body);
  const lines = await readLines(staging, { key: 'f/foreign.gz', offset: 0, length: body.length });
  const parse = () => {
    throw new Error('no fact');
  };
  expect(() => [...lines.parse(parse)]).toThrow(/f\/foreign\.gz .* remove both f\/ and/);
});

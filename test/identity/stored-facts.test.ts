import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bucketOf } from '../../src/identity/bucket.ts';
import type { StoredFact } from '../../src/identity/stored-fact.ts';
import { encodeFacts, readFacts } from '../../src/identity/stored-facts.ts';
import { SourceError } from '../../src/lib/errors.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'findings-object-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const findings: StoredFact[] = Array.from({ length: 500 }, (_, number) => ({
  kind: 'user',
  id: `üser "${number}"\n`,
}));

test('each bucket can be read alone, and neighbours in one go', async () => {
  const { body, sections } = await encodeFacts(findings);
  await staging.put('f/all.gz', body);

  const apart: StoredFact[] = [];
  for (const { bucket, offset, length } of sections) {
    const read = await readFacts(staging, { key: 'f/all.gz', offset, length });
    for (const finding of read) expect(finding.kind === 'user' && bucketOf(finding.id)).toBe(bucket);
    apart.push(...read);
  }
  const together = await readFacts(staging, { key: 'f/all.gz', offset: 0, length: body.length });
  expect(together).toEqual(apart);
  expect(new Set(apart.map((finding) => JSON.stringify(finding)))).toEqual(
    new Set(findings.map((finding) => JSON.stringify(finding))),
  );
});

test('a damaged object is named, with what to do about it', async () => {
  const { body } = await encodeFacts(findings);
  body.fill(0, 40, 60);
  await staging.put('f/damaged.gz', body);
  const reading = readFacts(staging, { key: 'f/damaged.gz', offset: 0, length: body.length });
  await expect(reading).rejects.toThrow(SourceError);
  await expect(reading).rejects.toThrow(/f\/damaged\.gz .* remove both f\/ and _migrations\/f\.json/);
});

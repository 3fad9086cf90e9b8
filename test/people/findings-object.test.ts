import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SourceError } from '../../src/errors.ts';
import { bucketOf } from '../../src/people/bucket.ts';
import { encodeFindings, readFindings } from '../../src/people/findings-object.ts';
import type { StoredFinding } from '../../src/people/stored-finding.ts';
import { createFolderStaging } from '../../src/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'findings-object-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const findings: StoredFinding[] = Array.from({ length: 500 }, (_, number) => ({
  kind: 'user',
  id: `üser "${number}"\n`,
}));

test('each bucket can be read alone, and neighbours in one go', async () => {
  const { body, sections } = await encodeFindings(findings);
  await staging.put('f/all.gz', body);

  const apart: StoredFinding[] = [];
  for (const { bucket, offset, length } of sections) {
    const read = await readFindings(staging, { key: 'f/all.gz', offset, length });
    for (const finding of read) expect(finding.kind === 'user' && bucketOf(finding.id)).toBe(bucket);
    apart.push(...read);
  }
  const together = await readFindings(staging, { key: 'f/all.gz', offset: 0, length: body.length });
  expect(together).toEqual(apart);
  expect(new Set(apart.map((finding) => JSON.stringify(finding)))).toEqual(
    new Set(findings.map((finding) => JSON.stringify(finding))),
  );
});

test('a damaged object is named, with what to do about it', async () => {
  const { body } = await encodeFindings(findings);
  body.fill(0, 40, 60);
  await staging.put('f/damaged.gz', body);
  const reading = readFindings(staging, { key: 'f/damaged.gz', offset: 0, length: body.length });
  await expect(reading).rejects.toThrow(SourceError);
  await expect(reading).rejects.toThrow(/f\/damaged\.gz .* remove both f\/ and _migrations\/f\.json/);
});

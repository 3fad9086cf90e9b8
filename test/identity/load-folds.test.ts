import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FACTS, loadFolds } from '../../src/identity/load-folds.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import type { StoredFact } from '../../src/state/facts/fact-line.ts';
import { saveFacts } from '../../src/state/facts/fact-object.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'backhaul-folds-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

it('facts of which one character is another are not folded, whichever bucket they are of', async () => {
  const users: StoredFact[] = Array.from({ length: 300 }, (_, number) => ({
    kind: 'user',
    id: `user-${number}`,
  }));
  const index = await saveFacts(staging, 'shop/findings/abc/00000/1-1-300.gz', users);
  const count = async () => {
    const range = { from: 0, to: BUCKETS };
    const { signal } = new AbortController();
    let ids = 0;
    for await (const { fold } of loadFolds(FACTS, { staging, facts: [index], range, signal }))
      ids += FACTS.getSize(fold);
    return ids;
  };
  expect(await count()).toBe(users.length);

  const body = (await staging.get(index.key)) ?? Buffer.alloc(0);
  for (const { offset, length } of index.sections) {
    const changed = Buffer.from(body);
    const at = offset + length - 3; // of an id
    changed[at] = (changed[at] ?? 0) ^ 1;
    await staging.put(index.key, changed);
    await expect(count()).rejects.toThrow(
      /restore it, or remove shop\/receipts\/abc\/00000\.json and resume/,
    );
  }
});

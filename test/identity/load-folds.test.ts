import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FACTS, loadFolds } from '../../src/identity/load-folds.ts';
import { BUCKETS } from '../../src/state/bucket.ts';
import type { StoredFact, StoredId } from '../../src/state/facts/fact-line.ts';
import { saveFacts } from '../../src/state/facts/fact-object.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { renderFact, toWritable } from '../state/facts/lines.ts';

const folder = await mkdtemp(join(tmpdir(), 'backhaul-folds-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

it('facts of which one character is another are not folded, whichever bucket they are of', async () => {
  const users: StoredFact[] = Array.from({ length: 300 }, (_, number) => ({
    kind: 'user',
    id: `user-${number}`,
  }));
  const index = await saveFacts(staging, 'shop/findings/abc/00000/1-1-300.gz', toWritable(users));
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

it('in pieces come the same facts as at once, all of one id in one of them', async () => {
  const facts: StoredId[][] = Array.from({ length: 5 }, (_, part) =>
    Array.from({ length: 200 }, (__, number) => ({
      kind: 'id',
      id: `id-${(number * (part + 1)) % 250}`,
      isUser: number % 3 === part % 3,
      active: undefined,
      pairs: number % 7 === 0 ? [[`user-${part}`, '2023-01-01T00:00:00.000Z'] as const] : [],
      properties: `1\t2023-01-0${part + 1}T00:00:00.000Z\t{"n${part}":${number}}`,
    })),
  );
  const indexes = await Promise.all(
    facts.map((some, part) => saveFacts(staging, `shop/findings/abc/${part}/1-1-200.gz`, toWritable(some))),
  );
  const load = async (options: { pieceIds?: number; limits?: { runBytes: number; foldBytes: number } }) => {
    const range = { from: 0, to: BUCKETS };
    const { signal } = new AbortController();
    const ids: string[] = [];
    const lines: string[] = [];
    for await (const { fold } of loadFolds(FACTS, { staging, facts: indexes, range, signal, ...options })) {
      ids.push(...fold.ids.keys());
      lines.push(...[...fold.takeStored()].map(renderFact));
    }
    expect(new Set(ids).size).toBe(ids.length);
    return lines.sort();
  };
  const limits = { runBytes: 2_000_000, foldBytes: 12_000_000 };
  const atOnce = await load({});
  expect(atOnce.length).toBe(new Set(facts.flat().map(({ id }) => id)).size);
  for (const pieceIds of [1, 10, 1_000]) expect(await load({ pieceIds, limits })).toEqual(atOnce);
  // A bucket that is too large for it is halved.
  expect(await load({ pieceIds: 10, limits: { runBytes: 1, foldBytes: 3_000 } })).toEqual(atOnce);
});

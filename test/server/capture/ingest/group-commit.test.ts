import { expect, test } from 'vitest';
import { createGroupCommit } from '../../../../src/server/capture/ingest/group-commit.ts';

/** Commits when told to; `fail` makes a commit that holds that item fail. */
function lab({ maxItems = 10, fail = '', patience = async () => {} } = {}) {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const group = createGroupCommit<string>({
    async commit(key, items) {
      begun.push(`${key}: ${items.join(' ')}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (items.includes(fail)) throw new Error(`cannot store ${items.join(' ')}`);
    },
    maxItems,
    mayGoAlone: (error) => !String(error).includes('outage'),
    patience,
  });
  const commitNext = async () => {
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    waiting.shift()?.();
  };
  return { begun, add: group.add, commitNext };
}

test('commits together what comes while another commit is under way', async () => {
  const { begun, add, commitNext } = lab();
  let isStored = false;
  const first = add('p', 'a').then(() => {
    isStored = true;
  });
  while (begun.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const others = [add('p', 'b'), add('p', 'c')];
  expect(isStored).toBe(false);
  await commitNext();
  await first;
  await commitNext();
  await Promise.all(others);
  expect(begun).toEqual(['p: a', 'p: b c']);
});

test('waits for those who were just answered, as long as it has patience', async () => {
  let losePatience = () => {};
  const { begun, add, commitNext } = lab({
    patience: () =>
      new Promise((resolve) => {
        losePatience = resolve;
      }),
  });
  const first = add('p', 'a1');
  while (begun.length === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = add('p', 'b1');
  await commitNext();
  await first;
  await new Promise((resolve) => setImmediate(resolve));
  const together = [add('p', 'a2'), second];
  await commitNext();
  await Promise.all(together);
  expect(begun).toEqual(['p: a1', 'p: b1 a2']);

  const third = add('p', 'a3');
  while (begun.length === 2) await new Promise((resolve) => setImmediate(resolve));
  const alone = add('p', 'b3');
  await commitNext();
  await third;
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toHaveLength(3);
  losePatience();
  await commitNext();
  await alone;
  expect(begun.slice(2)).toEqual(['p: a3', 'p: b3']);
});

test('keeps projects apart, and groups within their bound', async () => {
  const { begun, add, commitNext } = lab({ maxItems: 2 });
  const all = [add('p', 'a'), add('p', 'b'), add('p', 'c'), add('q', 'd')];
  for (let count = 0; count < 3; count += 1) await commitNext();
  await Promise.all(all);
  expect(begun.sort()).toEqual(['p: a b', 'p: c', 'q: d']);
});

test('commits one by one when one of them fails, so that only that one is refused', async () => {
  const { begun, add, commitNext } = lab({ fail: 'bad' });
  const all = Promise.allSettled([add('p', 'a'), add('p', 'bad'), add('p', 'c')]);
  for (let count = 0; count < 4; count += 1) await commitNext();
  expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(begun).toEqual(['p: a bad c', 'p: a', 'p: bad', 'p: c']);
});

test('tells all when the reason is not one of them', async () => {
  const { begun, add, commitNext } = lab({ fail: 'outage' });
  const all = Promise.allSettled([add('p', 'outage'), add('p', 'b')]);
  await commitNext();
  expect((await all).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(begun).toHaveLength(1);
});

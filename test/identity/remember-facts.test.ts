import { describe, expect, it } from 'vitest';
import type { KnownFacts } from '../../src/identity/connect/context.ts';
import { rememberFacts } from '../../src/identity/connect/remember-facts.ts';

const INDEXES: readonly KnownFacts[] = [
  {
    key: 'm/findings/a/00000/1.gz',
    plain: true,
    isWaiting: true,
    sections: [
      { bucket: 3, offset: 0, length: 120, crc32: 0 },
      { bucket: 128, offset: 120, length: 4_294_967_296, crc32: 4_294_967_295 },
    ],
  },
  { key: 'm/findings/a/00001/1.gz', sections: [{ bucket: 0, offset: 0, length: 7 }] },
  { key: 'm/findings/a/00002/1.gz', sections: [] },
];

function countLists() {
  const counts = { lists: 0 };
  async function* list() {
    counts.lists += 1;
    yield* INDEXES;
  }
  return { counts, list };
}

async function readAll(indexes: AsyncIterable<KnownFacts>): Promise<KnownFacts[]> {
  const all: KnownFacts[] = [];
  for await (const index of indexes) all.push(index);
  return all;
}

describe('rememberFacts', () => {
  it('lists the same again without asking', async () => {
    const { counts, list } = countLists();
    const remembered = rememberFacts(list);
    for (let time = 0; time < 3; time += 1) expect(await readAll(remembered())).toEqual(INDEXES);
    expect(counts.lists).toBe(1);
  });

  it('asks each time where there is more than it keeps', async () => {
    const { counts, list } = countLists();
    const remembered = rememberFacts(list, 50);
    for (let time = 0; time < 3; time += 1) expect(await readAll(remembered())).toEqual(INDEXES);
    expect(counts.lists).toBe(3);
  });

  it('asks again where a list was not read to its end', async () => {
    const { counts, list } = countLists();
    const remembered = rememberFacts(list);
    for await (const { key } of remembered()) if (key === INDEXES[0]?.key) break;
    expect(await readAll(remembered())).toEqual(INDEXES);
    expect(counts.lists).toBe(2);
  });

  it('asks again where a list failed', async () => {
    let lists = 0;
    const remembered = rememberFacts(async function* () {
      lists += 1;
      yield* INDEXES.slice(0, 1);
      if (lists === 1) throw new Error('listings are behind');
      yield* INDEXES.slice(1);
    });
    await expect(readAll(remembered())).rejects.toThrow('behind');
    expect(await readAll(remembered())).toEqual(INDEXES);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCountsFile } from '../../../src/migrations/verify/counts-file.ts';
import type { Cell } from '../../../src/migrations/verify/event-counts.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-counts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function collect(cells: AsyncIterable<Cell>): Promise<Cell[]> {
  const all: Cell[] = [];
  for await (const cell of cells) all.push(cell);
  return all;
}

async function read(text: string) {
  const path = join(folder, 'counts.csv');
  await writeFile(path, text);
  return collect(readCountsFile(path));
}

describe('counts of a vendor', () => {
  it('are a table in any order of columns, with users where they are known', async () => {
    expect(
      await read(
        '\uFEFFEvent;Day;Users;other;Count\r\n"a;""b""";2024-02-29;2;x;3\r\n\r\nc;2024-03-01;;y;0\r\n',
      ),
    ).toEqual([
      { day: '2024-02-29', event: 'a;"b"', count: 3, users: 2 },
      { day: '2024-03-01', event: 'c', count: 0 },
    ]);
  });

  it.each([
    ['day,event\n', /counts\.csv:1 {2}is no header with the columns day,event,count/],
    ['', /is empty/],
    ['day,event,count\n2024-02-30,a,1\n', /:2 {2}"2024-02-30" is no day/],
    ['day,event,count\n2024-02-01,a,1.5\n', /:2 {2}count is "1.5"/],
    ['day,event,count\n2024-02-01,a,1\n2024-02-01,a\n', /:3 {2}has other columns/],
  ])('name the line that cannot be read: %j', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  it('must be there', async () => {
    await expect(collect(readCountsFile(join(folder, 'none.csv')))).rejects.toThrow(
      /the counts cannot be read: ENOENT/,
    );
  });
});

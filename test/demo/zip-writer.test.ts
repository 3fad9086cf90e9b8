import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createZipWriter, encodeCentralHeader, encodeEndRecords } from '../../src/demo/zip-writer.ts';
import { readZip } from './read-zip.ts';

const folder = await mkdtemp(join(tmpdir(), 'zip-writer-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(name: string, members: Iterable<[string, string]>) {
  const path = join(folder, name);
  const writer = await createZipWriter(path);
  for (const [member, body] of members) await writer.add(member, Buffer.from(body));
  await writer.close();
  return path;
}

test('another reader finds every member, whatever its name', async () => {
  const members: [string, string][] = [
    ['1/1_2023-11-06_0#0.json.gz', 'first'],
    ['größe/🚀.json', ''],
    ['last', 'x'.repeat(100_000)],
  ];
  const read = await readZip(await write('few.zip', members));
  expect([...read].map(([name, body]) => [name, body.toString()])).toEqual(members);
});

test('the same members make the same bytes', async () => {
  const [a, b] = [await write('a.zip', [['m', 'body']]), await write('b.zip', [['m', 'body']])];
  expect(await readFile(a)).toEqual(await readFile(b));
});

test.each([65_534, 65_535])('%d members can be read', async (count) => {
  const path = await write(
    `${count}.zip`,
    Array.from({ length: count }, (_, number): [string, string] => [String(number), '']),
  );
  expect((await readZip(path, false)).size).toBe(count);
});

test('beyond 4 GiB offsets and the end record use their 64-bit fields', () => {
  const far = 5 * 2 ** 30 + 7;
  const header = encodeCentralHeader({ name: 'm', crc: 1, bytes: 10, offset: far });
  expect(header.readUInt32LE(42)).toBe(0xffffffff);
  expect(header.readUInt16LE(30)).toBe(12);
  expect(header.readUInt16LE(47)).toBe(0x0001);
  expect(header.readBigUInt64LE(51)).toBe(BigInt(far));

  const end = encodeEndRecords(3, far, 500);
  expect(end.readUInt32LE(0)).toBe(0x06064b50);
  expect(end.readBigUInt64LE(32)).toBe(3n);
  expect(end.readBigUInt64LE(40)).toBe(500n);
  expect(end.readBigUInt64LE(48)).toBe(BigInt(far));
  expect(end.readUInt32LE(56)).toBe(0x07064b50);
  expect(end.readBigUInt64LE(64)).toBe(BigInt(far + 500));
  expect(end.readUInt32LE(76 + 16)).toBe(0xffffffff);
});

test('a file that was given up leaves nothing behind', async () => {
  const writer = await createZipWriter(join(folder, 'given-up.zip'));
  await writer.add('m', Buffer.from('body'));
  await writer.abandon();
  expect((await readdir(folder)).filter((name) => name.startsWith('given-up'))).toEqual([]);
});

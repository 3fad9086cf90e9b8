import { expect, test } from 'vitest';
import { readBody } from '../../../src/server/http/read-body.ts';

const LIMIT = 100_000;

const toRequest = (body: string | ReadableStream | null, length?: number) =>
  new Request('http://api/', {
    method: 'POST',
    body,
    headers: length === undefined ? {} : { 'content-length': String(length) },
    duplex: 'half',
  } as RequestInit);

test.each([
  ['none', null, undefined, 0],
  ['one that announces nothing', 'abc', undefined, 3],
  ['an empty one', '', 0, 0],
  ['a small one', 'abc', 3, 3],
  ['one of 64 KiB', 'a'.repeat(65_536), 65_536, 65_536],
  ['one more byte', 'a'.repeat(65_537), 65_537, 65_537],
])('reads %s', async (_name, body, length, expected) => {
  let heard = 0;
  const bytes = await readBody(toRequest(body, length), LIMIT, (count) => {
    heard += count;
  });
  expect([bytes.toString('latin1'), heard]).toEqual([body ?? '', expected]);
});

test.each([
  ['announces', 'abc', LIMIT + 1],
  ['has', 'a'.repeat(LIMIT + 1), undefined],
  ['has, whatever it announces,', 'a'.repeat(LIMIT + 1), 3],
])('refuses a body that %s more than the limit', async (_name, body, length) => {
  await expect(readBody(toRequest(body, length), LIMIT)).rejects.toMatchObject({ status: 413 });
});

test.each([3, undefined])('refuses a body that breaks off, announced length %s', async (length) => {
  const broken = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
  await expect(readBody(toRequest(broken, length), LIMIT)).rejects.toMatchObject({
    status: 400,
    envelope: { code: 'request_cut_short' },
  });
});

test('hands on the refusal of whoever counts the bytes', async () => {
  const refuse = () => {
    throw new Error('busy');
  };
  await expect(readBody(toRequest('abc', 3), LIMIT, refuse)).rejects.toThrow('busy');
});

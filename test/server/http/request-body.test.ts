import { Hono } from 'hono';
import pino from 'pino';
import { expect, test } from 'vitest';
import { respondWithError } from '../../../src/server/http/errors.ts';
import { readRequestBody } from '../../../src/server/http/request-body.ts';
import { respondWithJson } from '../../../src/server/http/response.ts';

const app = new Hono();
app.post('/', async (c) => {
  await readRequestBody(c);
  return respondWithJson(c, await readRequestBody(c)); // asked twice, read once
});
app.onError((error, c) => respondWithError(error, c, pino({ level: 'silent' })));

const post = (body: string | Buffer, contentType?: string) =>
  app.request('/', {
    method: 'POST',
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: contentType === undefined ? {} : { 'content-type': contentType },
  });

test('JSON comes back with every digit, a form as an object of texts, nothing as an empty object', async () => {
  const digits = '{"a":12345678901234567890,"b":1.10000000000000000001}';
  expect(await (await post(digits, 'application/json; charset=utf-8')).text()).toBe(digits);
  const form = await post('name=re%20placed&pinned=true', 'application/x-www-form-urlencoded');
  expect(await form.json()).toEqual({ name: 're placed', pinned: 'true' });
  expect(await (await post('', 'application/json')).json()).toEqual({});
});

test.each([
  ['{"a":', 'application/json', 400, 'parse_error'],
  [Buffer.from([0x22, 0xff, 0x22]), 'application/json', 400, 'parse_error'],
  ['['.repeat(101) + ']'.repeat(101), 'application/json', 400, 'parse_error'],
  ['x', 'multipart/form-data', 400, 'parse_error'],
  ['a', 'text/plain', 415, 'unsupported_media_type'],
  [Buffer.alloc(4 * 1024 * 1024 + 1, 0x20), 'application/json', 413, 'request_too_large'],
])('a body that cannot be read is refused: %#', async (body, contentType, status, code) => {
  const response = await post(body, contentType);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ code, attr: null });
});

test('a body that was compressed is refused, as what it holds is unknown', async () => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const response = await app.request('/', { method: 'POST', body: '{}', headers });
  expect(response.status).toBe(415);
  expect(await response.json()).toMatchObject({
    code: 'unsupported_media_type',
    detail: 'Unsupported content encoding "gzip" in request: send the body as it is.',
  });
});

test.each([
  [String.raw`{"a\u0000":1}`, 'application/json'],
  [String.raw`{"a":"\ud800"}`, 'application/json'],
  ['a=%00', 'application/x-www-form-urlencoded'],
])('%s is refused, as nothing could store it', async (body, contentType) => {
  const response = await post(body, contentType);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'parse_error',
    detail: expect.stringContaining('text with a NUL character or half a surrogate pair'),
  });
});

import { randomUUID } from 'node:crypto';
import { brotliCompressSync } from 'node:zlib';
import lzString from 'lz-string';
import { beforeAll, expect, test } from 'vitest';
import { createTestApi, gzipped, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { storedEvents } from '../../support/stored-rows.ts';

/** What `Content-Encoding` may say, and what is made of a body that no JSON comes of. */
onEveryDatabase('encodings', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
  });
  const one = (id: string) => ({ api_key: api.project.projectKey, event: 'e', distinct_id: id });
  const text = (id: string) => JSON.stringify(one(id));
  const base64 = (plain: string) => Buffer.from(plain).toString('base64');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  const accepted: [string, string, (id: string) => string | Buffer][] = [
    ...['', 'identity', 'Identity', 'gzip', 'gzip-js', 'base64'].map((name): (typeof accepted)[number] => [
      'plain JSON',
      name,
      text,
    ]),
    ['gzip', 'gzip', (id) => gzipped(one(id))],
    ['gzip', 'GZIP', (id) => gzipped(one(id))],
    ['gzip', 'x-gzip', (id) => gzipped(one(id))],
    ['gzip', 'br', (id) => gzipped(one(id))],
    ['base64', 'base64', (id) => base64(text(id))],
    ['base64 of a byte order mark and JSON', '', (id) => base64(`\uFEFF${' '.repeat(100)}${text(id)}`)],
    ['lz64', 'lz64', (id) => lzString.compressToBase64(text(id))],
    ['lz64', 'LZ64', (id) => lzString.compressToBase64(text(id))],
  ];
  test.each(accepted)('%s is taken under the encoding "%s"', async (_body, encoding, pack) => {
    const id = randomUUID();
    const response = await api.post('/batch/', pack(id), { 'content-encoding': encoding });
    expect(await response.text()).toBe('{"status":1}');
    expect(await storedEvents(db(), api.project.id, id)).toHaveLength(1);
  });

  test('the encoding of a request without a body says nothing', async () => {
    const headers = { 'content-encoding': 'br' };
    const query = `data=${encodeURIComponent(base64(text('query')))}`;
    expect((await api.app.request(`/e/?${query}`, { headers })).status).toBe(200);
    expect(await (await api.post('/e/', '', headers)).json()).toMatchObject({ code: 'no_data' });
  });

  test.each([
    ['/batch/', 'br'],
    ['/capture/', 'deflate'],
    ['/e/', 'zstd'],
    ['/track/', 'gzip, br'],
    ['/engage/', 'utf-8'],
    ['/i/v0/e/', 'nonsense'],
  ])('%s refuses the encoding "%s" by name, and stores nothing', async (path, encoding) => {
    const id = randomUUID();
    for (const body of [text(id), brotliCompressSync(text(id))]) {
      const response = await api.post(path, body, { 'content-encoding': encoding });
      expect(response.status).toBe(415);
      expect(await response.json()).toEqual({
        type: 'invalid_request',
        code: 'unsupported_media_type',
        detail: expect.stringMatching(new RegExp(`"${encoding}".*: gzip, gzip-js, lz64, base64\\.$`)),
        attr: null,
      });
    }
    expect(await storedEvents(db(), api.project.id, id)).toEqual([]);
  });

  test('the answer repeats no more than 200 characters of an encoding', async () => {
    const response = await api.post('/e/', text('long'), { 'content-encoding': 'n'.repeat(5000) });
    expect(await response.json()).toMatchObject({ detail: expect.stringMatching(/"n{200}"/) });
  });

  test.each(['x', 'xx', 'xxx', 'abcd', 'QUJD', 'Zm9vYmFy'])(
    'the word %s, which could be base64, is no JSON',
    async (word) => {
      const bodies = [
        await api.post('/e/', word),
        await api.post('/e/', word, { 'content-encoding': 'base64' }),
        await api.post('/e/', `data=${word}`, form),
      ];
      for (const response of bodies) {
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({
          code: 'invalid_payload',
          detail: expect.stringMatching(/Malformed request data: Invalid JSON: /),
        });
      }
    },
  );
});

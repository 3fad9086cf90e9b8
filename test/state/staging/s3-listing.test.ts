import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { UnavailableError } from '../../../src/lib/errors.ts';
import { createS3Bucket } from '../../../src/state/staging/s3-bucket.ts';

/** A server that answers listings, and cuts some of them off; or a proxy answers for it. */
let server: Server;
let endpoint: string;
let answers: ((response: ServerResponse) => void)[] = [];
let requests = 0;

const KEYS = ['shop/parts/a/00000.json', 'shop/parts/a/00001.json', 'shop/parts/a/00002.json'];
const PAGE = [
  '<?xml version="1.0" encoding="UTF-8"?>',
  '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>shop/</Prefix>',
  `<KeyCount>${KEYS.length}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>`,
  ...KEYS.map((key) => `<Contents><Key>${key}</Key><ETag>"e"</ETag><Size>7</Size></Contents>`),
  '</ListBucketResult>',
].join('');

const respond = (text: string) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/xml' }).end(text);
/** Promises the whole page and hangs up in its middle. */
const reset = (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/xml', 'content-length': PAGE.length });
  response.write(PAGE.slice(0, 300), () => response.socket?.resetAndDestroy());
};

beforeAll(async () => {
  server = createServer((_, response) => {
    requests += 1;
    (answers.shift() ?? respond(PAGE))(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(() => server.close());
beforeEach(() => {
  requests = 0;
});

const open = (outageMs?: number, idleTimeoutMs?: number) =>
  createS3Bucket({
    bucket: 'b',
    endpoint,
    accessKeyId: 'id',
    secretAccessKey: 'key',
    outageMs,
    idleTimeoutMs,
  });

async function list(outageMs?: number): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of open(outageMs).list('shop/')) keys.push(key);
  return keys;
}

describe('a listing', () => {
  it.each(Array.from({ length: 12 }, (_, twelfth) => Math.floor((PAGE.length * twelfth) / 12)))(
    'whose page ends after %i characters is asked for again',
    async (length) => {
      answers = [respond(PAGE.slice(0, length))];
      expect(await list()).toEqual(KEYS);
      expect(requests).toBe(2);
    },
  );

  it('whose connection is reset is asked for again', async () => {
    answers = [reset, reset];
    expect(await list()).toEqual(KEYS);
    expect(requests).toBe(3);
  });

  it.each([
    ['without a token', ''],
    ['with the token that was asked with', '<NextContinuationToken>t</NextContinuationToken>'],
  ])('that says that there is more, %s, has no end there', async (_name, token) => {
    const more = PAGE.replace('<IsTruncated>false', '<IsTruncated>true');
    const [first, others] = KEYS.map((key) => `<Contents><Key>${key}</Key></Contents>`);
    const toPage = (keys: string, next: string) =>
      respond(more.replace(/<Contents>.*<\/Contents>/, `${keys}${next}`));
    answers = [
      toPage(first ?? '', '<NextContinuationToken>t</NextContinuationToken>'),
      toPage(others ?? '', token),
      respond(PAGE.replace(/<Contents>.*?<\/Contents>/, '')),
    ];
    expect(await list()).toEqual(KEYS);
    expect(requests).toBe(3);

    answers = Array.from({ length: 40 }, () => toPage(first ?? '', token));
    await expect(list(100)).rejects.toThrow(UnavailableError);
    answers = [];
  });

  it('that trickles is no wait without an end', async () => {
    const trickles: NodeJS.Timeout[] = [];
    const trickle = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/xml' });
      let at = 0;
      trickles.push(setInterval(() => response.write(PAGE.charAt(at++)), 5));
    };
    answers = Array.from({ length: 40 }, () => trickle);
    const listing = open(0, 50).list('shop/')[Symbol.asyncIterator]();
    await expect(listing.next()).rejects.toThrow(UnavailableError);
    for (const each of trickles) clearInterval(each);
    answers = [];
  });

  it('that is cut off time and again is no shorter listing', async () => {
    answers = Array.from({ length: 40 }, () => respond(PAGE.slice(0, 400)));
    await expect(list(100)).rejects.toThrow(UnavailableError);
    answers = [];
  });
});

describe('a page that a proxy answers with', () => {
  const page = (response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html><body>Please sign in</body></html>');
  const object = (body: string) => (response: ServerResponse) =>
    response.writeHead(200, { etag: '"e"' }).end(body);

  it('is no object', async () => {
    answers = [page, object('the object')];
    expect(String(await open().get('shop/a'))).toBe('the object');
  });

  it('writes nothing', async () => {
    answers = [page, object('')];
    expect(await open().put('shop/a', Buffer.from('x'))).toEqual({ etag: 'e' });
    answers = [page, object('')];
    expect(await open().create('shop/a', Buffer.from('x'))).toBe(true);
    answers = Array.from({ length: 40 }, () => page);
    await expect(open(100).create('shop/a', Buffer.from('x'))).rejects.toThrow(UnavailableError);
    answers = [];
  });
});

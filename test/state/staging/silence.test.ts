import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createS3Bucket } from '../../../src/state/staging/s3-bucket.ts';
import { watchSilence } from '../../../src/state/staging/silence.ts';
import { until } from '../../support/until.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

function watch() {
  const said: (string | undefined)[] = [];
  return {
    said,
    silence: watchSilence(
      (doing, why) => `${doing}: ${why}`,
      (trouble) => said.push(trouble),
    ),
  };
}

it('says once that nothing is answered while requests are open, and that something is', async () => {
  const { said, silence } = watch();
  let answer = () => {};
  const request = silence.during('list a/', new Promise<void>((resolve) => (answer = resolve)));
  await vi.advanceTimersByTimeAsync(19_000);
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said).toEqual(['list a/: no answer for more than 20 s']);
  silence.noteAnswer();
  expect(said).toEqual(['list a/: no answer for more than 20 s', undefined]);
  answer();
  await request;
});

it('is no trouble where another request is answered, or bytes come, or nothing is asked for', async () => {
  const { said, silence } = watch();
  const slow = new AbortController();
  const request = silence.during('write a', once(slow.signal, 'abort'));
  for (let seconds = 0; seconds < 120; seconds += 15) {
    await vi.advanceTimersByTimeAsync(15_000);
    silence.noteAnswer();
  }
  slow.abort();
  await request;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(said).toEqual([]);
});

it('a server that takes a body slowly is not silent, and one that was is so until it answers', async () => {
  const { said, silence } = watch();
  const slow = new AbortController();
  const request = silence.during('write a', once(slow.signal, 'abort'));
  for (let seconds = 0; seconds < 60; seconds += 15) {
    await vi.advanceTimersByTimeAsync(15_000);
    silence.noteProgress();
  }
  expect(said).toEqual([]);
  await vi.advanceTimersByTimeAsync(20_000);
  silence.noteProgress();
  expect(said).toEqual(['write a: no answer for more than 20 s']);
  slow.abort();
  await request;
});

/** More than the operating system keeps of what was sent and not read yet. */
const STEP_BYTES = 16 * 1024 * 1024;

it('a bucket whose server reads a large body slowly is not called silent', async () => {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.once('end', () => response.writeHead(200, { etag: '"e"' }).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const said: (string | undefined)[] = [];
  const bucket = createS3Bucket({
    ...{ bucket: 'b', endpoint: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` },
    ...{ accessKeyId: 'id', secretAccessKey: 'key' },
    onTrouble: (trouble) => said.push(trouble),
  });
  const body = Buffer.alloc(4 * STEP_BYTES, 'abcdefg');
  const put = bucket.put('shop/a', body);
  const request = await until('the request', () => requests[0]);
  const received = createHash('sha256');
  let bytes = 0;
  for await (const chunk of request) {
    received.update(chunk);
    const steps = Math.floor(bytes / STEP_BYTES);
    bytes += chunk.length;
    if (Math.floor(bytes / STEP_BYTES) > steps) await vi.advanceTimersByTimeAsync(15_000);
  }
  expect(await put).toEqual({ etag: 'e' });
  expect(request.headers['content-length']).toBe(String(body.length));
  expect(received.digest('hex')).toBe(createHash('sha256').update(body).digest('hex'));
  expect(said).toEqual([]);
  expect(requests).toHaveLength(1);
});

it('a bucket whose server takes requests and answers none is named, and still waited for', async () => {
  const held: ServerResponse[] = [];
  const server = createServer((_, response) => void held.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const said: (string | undefined)[] = [];
  const bucket = createS3Bucket({
    ...{ bucket: 'b', endpoint, accessKeyId: 'id', secretAccessKey: 'key' },
    onTrouble: (trouble) => said.push(trouble),
  });
  const put = bucket.put('shop/a', Buffer.from('x'));
  await until('the request', () => held.length > 0 || undefined);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(said).toEqual([
    `s3://b at ${endpoint} does not respond (could not write shop/a: no answer for more than 20 s)`,
  ]);
  for (const response of held) response.writeHead(200, { etag: '"e"' }).end();
  expect(await put).toEqual({ etag: 'e' });
  expect(said.at(-1)).toBeUndefined();
  expect(held).toHaveLength(1);
});

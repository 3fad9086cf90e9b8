import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { callApi } from '../../src/cli/call-api.ts';

/** A bundled API whose database is not ready for the first calls. */
async function startApi(unready: number) {
  let calls = 0;
  const server = createServer((_, response) => {
    calls += 1;
    const isReady = calls > unready;
    response.writeHead(isReady ? 200 : 503, { 'content-type': 'application/json', 'retry-after': '0' });
    response.end(isReady ? '{"results":[]}' : '{"detail":"The database is not ready."}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  return { api: { url: `http://127.0.0.1:${port}`, personalKey: 'k' }, countCalls: () => calls };
}

it('asks again while the database is not ready', async () => {
  const { api, countCalls } = await startApi(3);
  expect(await callApi(api, { path: '/api/projects/' })).toEqual({ results: [] });
  expect(countCalls()).toBe(4);
});

it('gives up at last, and repeats nothing that changes something', async () => {
  const { api, countCalls } = await startApi(1_000);
  await expect(callApi(api, { path: '/x' })).rejects.toThrow('answered 503 to GET /x');
  expect(countCalls()).toBe(61);
  await expect(callApi(api, { method: 'POST', path: '/x', body: {} })).rejects.toThrow('503 to POST');
  expect(countCalls()).toBe(62);
});

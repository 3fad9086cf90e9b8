import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { createS3Staging } from '../../../src/state/staging/s3.ts';

/** A server that keeps names of objects alone, and heeds If-None-Match or does not. */
async function openStaging({ isConditional }: { readonly isConditional: boolean }) {
  const keys = new Set<string>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const key = new URL(request.url ?? '', 'http://s3').pathname;
    const isHeeded = isConditional && request.headers['if-none-match'] === '*';
    requests.push(`${request.method} ${key.startsWith('/b/_doctor/') ? 'probe' : key}`);
    request.resume().on('end', () => {
      if (request.method === 'DELETE') {
        keys.delete(key);
        response.writeHead(204).end();
      } else if (isHeeded && keys.has(key)) response.writeHead(412).end();
      else {
        keys.add(key);
        response.writeHead(200, { etag: '"e"' }).end();
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const keysOf = { accessKeyId: 'id', secretAccessKey: 'key' };
  return { staging: createS3Staging({ bucket: 'b', prefix: '', endpoint, ...keysOf }), keys, requests };
}

const BODY = Buffer.from('x');

it('creates nothing on a server that ignores If-None-Match, as some do in a bucket with versions', async () => {
  const { staging, keys } = await openStaging({ isConditional: false });
  for (const key of ['a', 'a', 'b']) {
    const creating = staging.create(key, BODY);
    await expect(creating).rejects.toThrow(ConfigError);
    await expect(creating).rejects.toThrow('ignores If-None-Match, which keeps two writers apart');
  }
  expect([...keys]).toEqual([]);
});

it('asks once whether a server heeds it, and leaves nothing behind', async () => {
  const { staging, keys, requests } = await openStaging({ isConditional: true });
  expect(await Promise.all([staging.create('a', BODY), staging.create('b', BODY)])).toEqual([true, true]);
  expect(await staging.create('a', BODY)).toBe(false);
  expect([...keys]).toEqual(['/b/a', '/b/b']);
  expect(requests.slice(0, 3)).toEqual(['PUT probe', 'PUT probe', 'DELETE probe']);
  expect(requests).toHaveLength(6);
});

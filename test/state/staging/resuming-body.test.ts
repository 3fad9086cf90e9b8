import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError, SourceError, UnavailableError } from '../../../src/lib/errors.ts';
import { createS3Bucket } from '../../../src/state/staging/s3-bucket.ts';

/** What real servers do only on bad days: bodies that stop, break or change. */
const body = Buffer.from(Array.from({ length: 5_000 }, (_, index) => `${index},`).join(''));

let close: () => Promise<void> = async () => {};
afterEach(() => close());

async function bucketThat(
  answer: (request: IncomingMessage, response: ServerResponse, from: number) => void,
  outageMs?: number,
) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response, Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const bucket = createS3Bucket({
    bucket: 'b',
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    idleTimeoutMs: 200,
    outageMs,
  });
  return { bucket, requests };
}

const headFor = (response: ServerResponse, from: number, etag = '"v1"') =>
  response.writeHead(from > 0 ? 206 : 200, {
    etag,
    'content-length': body.length - from,
    ...(from > 0 ? { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` } : {}),
  });

describe('the body of an object', () => {
  it('continues from the byte where it stood still or broke, and insists on the same version', async () => {
    const { bucket, requests } = await bucketThat((_, response, from) => {
      headFor(response, from);
      if (from >= 10_000) response.end(body.subarray(from));
      // The first answer stands still, the second breaks.
      else response.write(body.subarray(from, from + 6_000), () => from > 0 && response.destroy());
    });
    expect((await bucket.get('key'))?.equals(body)).toBe(true);
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.slice(1).every(({ headers }) => headers['if-match'] === '"v1"')).toBe(true);
  });

  it('is given up when no byte more comes', async () => {
    const { bucket } = await bucketThat((_, response, from) => {
      headFor(response, from);
      response.write(body.subarray(from, 100));
      response.flushHeaders();
    });
    const failure = await bucket.get('key').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(String(failure)).toMatch(/stopped at byte 100/);
  });

  it('is given up when byte after byte trickles', async () => {
    const trickles: NodeJS.Timeout[] = [];
    const { bucket, requests } = await bucketThat((_, response, from) => {
      headFor(response, from);
      let at = from;
      trickles.push(setInterval(() => response.write(body.subarray(at, ++at)), 5));
    });
    const failure = await bucket.get('key').catch((error: unknown) => error);
    for (const trickle of trickles) clearInterval(trickle);
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(requests).toHaveLength(5);
  });

  it('is read no further once nobody waits for it, however fast it trickles', async () => {
    let closed = () => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const stop = new AbortController();
    const { bucket } = await bucketThat((_, response) => {
      response.writeHead(200, { etag: '"v1"', 'content-length': 1e9 });
      // Twenty times what counts as a standstill.
      const trickle = setInterval(() => response.write(body.subarray(0, 100)), 1);
      setTimeout(() => stop.abort(new Error('paused')), 20);
      response.once('close', () => {
        clearInterval(trickle);
        closed();
      });
    });
    await expect(bucket.get('key', stop.signal)).rejects.toThrow('paused');
    await isClosed;
  });

  it('fails when the object was replaced in the meantime', async () => {
    const { bucket } = await bucketThat((request, response, from) => {
      if (request.headers['if-match']) {
        response.writeHead(412, { 'content-length': 0 }).end();
        return;
      }
      headFor(response, from);
      response.write(body.subarray(0, 100));
    });
    await expect(bucket.get('key')).rejects.toThrow(SourceError);
  });

  it('is not mixed up of two versions by a server that does not know If-Match', async () => {
    let requests = 0;
    const { bucket } = await bucketThat((_, response, from) => {
      requests += 1;
      headFor(response, from, requests === 1 ? 'W/"v1"' : '"v2"');
      if (requests === 1) response.write(body.subarray(0, 100), () => response.destroy());
      else response.end(body.subarray(from));
    });
    const failure = await bucket.get('key').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SourceError);
    expect(String(failure)).toMatch(/the object changed while it was being read/);
    expect(requests).toBe(2);
  });

  it('is not mixed up by an endpoint that answers with another range', async () => {
    const { bucket } = await bucketThat((_, response, from) => {
      headFor(response, Math.floor(from / 64) * 64);
      response.write(body.subarray(0, 100), () => response.destroy());
    });
    await expect(bucket.get('key')).rejects.toThrow(ConfigError);
  });

  it('is not mixed up by an endpoint that ignores ranges', async () => {
    const { bucket } = await bucketThat((_, response) => {
      headFor(response, 0);
      response.write(body.subarray(0, 100));
    });
    await expect(bucket.get('key')).rejects.toThrow(ConfigError);
  });
});

describe('errors of a bucket', () => {
  it('name the missing permission, and carry no signed request along', async () => {
    const { bucket } = await bucketThat((_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>');
    });
    for (const attempt of [
      () => bucket.put('a', body),
      () => bucket.create('a', body),
      () => bucket.get('a'),
    ]) {
      const failure = await attempt().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConfigError);
      expect(String(failure)).toMatch(/s3:\/\/b at .*refuses this access key.*s3:PutObject/);
      const cause = failure instanceof Error ? failure.cause : undefined;
      expect(cause).toBeInstanceOf(Error);
      expect(Object.keys(cause ?? {}).filter((key) => key.startsWith('$'))).toEqual([]);
    }
  });

  it('say that a clock is wrong', async () => {
    const { bucket } = await bucketThat((_, response) => {
      response.writeHead(403, { 'content-type': 'application/xml' });
      response.end('<Error><Code>RequestTimeTooSkewed</Code><Message>no</Message></Error>');
    });
    const failure = await bucket.get('a').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ConfigError);
    expect(String(failure)).toMatch(/s3:\/\/b at .* has another time than this machine/);
  });

  it('come only after an outage that the SDK alone does not sit out', async () => {
    // Three of its attempts at each request: four times in a second.
    const left = new Map<string, number>();
    const { bucket } = await bucketThat((request, response) => {
      const key = `${request.method} ${request.url}`;
      const failures = left.get(key) ?? 12;
      left.set(key, failures - 1);
      if (failures > 0) return void request.socket.resetAndDestroy();
      request.resume().on('end', () => {
        if (request.method === 'GET') headFor(response, 0).end(body);
        else response.writeHead(200, { etag: '"v1"', 'content-length': 0 }).end();
      });
    });
    const [got, put, created] = await Promise.all([
      bucket.get('a'),
      bucket.put('b', body),
      bucket.create('c', body),
    ]);
    expect([got?.equals(body), put.etag, created]).toEqual([true, 'v1', true]);
  });

  it('say that the other side is down when nobody listens', async () => {
    const { bucket } = await bucketThat(() => {}, 0);
    await close();
    close = async () => {};
    await expect(bucket.put('a', body)).rejects.toThrow(UnavailableError);
  });

  it('retry a conditional write that met another one, and see who won', async () => {
    let writes = 0;
    const { bucket } = await bucketThat((request, response) => {
      request.resume().on('end', () => {
        writes += 1;
        response.writeHead(writes < 3 ? 409 : 412, { 'content-length': 0 }).end();
      });
    });
    expect(await bucket.create('a', Buffer.from('x'))).toBe(false);
    expect(writes).toBe(3);
  });
});

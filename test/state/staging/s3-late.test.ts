import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { UnavailableError } from '../../../src/lib/errors.ts';
import { createS3Bucket, type S3Bucket } from '../../../src/state/staging/s3-bucket.ts';

/** A server that sends a byte now and then, and never an answer: no connection is idle. */
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  let timer: NodeJS.Timeout | undefined;
  socket.on('error', () => {}).on('close', () => clearInterval(timer));
  socket.once('data', () => {
    socket.write('HTTP/1.1 200 OK\r\n');
    timer = setInterval(() => socket.write('x-later: yes\r\n'), 20);
  });
});
let bucket: S3Bucket;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  bucket = createS3Bucket({
    bucket: 'b',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accessKeyId: 'id',
    secretAccessKey: 'secret',
    idleTimeoutMs: 100,
    answerWithinMs: 200,
    outageMs: 0,
  });
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
});

const REQUESTS: Readonly<Record<string, () => Promise<unknown>>> = {
  put: () => bucket.put('key', Buffer.from('value')),
  create: () => bucket.create('key', Buffer.from('value')),
  get: () => bucket.get('key'),
  list: async () => {
    for await (const _ of bucket.list('prefix/'));
  },
  remove: () => bucket.remove('key'),
};

it.each(Object.keys(REQUESTS))(
  '%s ends where an answer begins, and comes byte by byte',
  async (name) => {
    await expect(REQUESTS[name]?.()).rejects.toBeInstanceOf(UnavailableError);
  },
  20_000,
);

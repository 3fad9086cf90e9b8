import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readBody } from '../../../src/server/http/read-body.ts';

const LIMIT = 100_000;

const toSource = (body: string | ReadableStream | null, length?: number) => ({
  req: {
    raw: new Request('http://api/', {
      method: 'POST',
      body,
      headers: length === undefined ? {} : { 'content-length': String(length) },
      duplex: 'half',
    } as RequestInit),
  },
  env: undefined,
});

test.each([
  ['none', null, undefined, 0],
  ['one that announces nothing', 'abc', undefined, 3],
  ['an empty one', '', 0, 0],
  ['a small one', 'abc', 3, 3],
  ['one of 64 KiB', 'a'.repeat(65_536), 65_536, 65_536],
  ['one more byte', 'a'.repeat(65_537), 65_537, 65_537],
])('reads %s', async (_name, body, length, expected) => {
  let heard = 0;
  const bytes = await readBody(toSource(body, length), LIMIT, (count) => {
    heard += count;
  });
  expect([bytes.toString('latin1'), heard]).toEqual([body ?? '', expected]);
});

test.each([
  ['announces', 'abc', LIMIT + 1],
  ['has', 'a'.repeat(LIMIT + 1), undefined],
  ['has, whatever it announces,', 'a'.repeat(LIMIT + 1), 3],
])('refuses a body that %s more than the limit', async (_name, body, length) => {
  await expect(readBody(toSource(body, length), LIMIT)).rejects.toMatchObject({ status: 413 });
});

test.each([3, undefined])('refuses a body that breaks off, announced length %s', async (length) => {
  const broken = new ReadableStream({ start: (controller) => controller.error(new Error('gone')) });
  await expect(readBody(toSource(broken, length), LIMIT)).rejects.toMatchObject({
    status: 400,
    envelope: { code: 'request_cut_short' },
  });
});

test('hands on the refusal of whoever counts the bytes', async () => {
  const refuse = () => {
    throw new Error('busy');
  };
  await expect(readBody(toSource('abc', 3), LIMIT, refuse)).rejects.toThrow('busy');
});

describe('over a connection', () => {
  /**
   * Sends these pieces, each once the one before has come, hangs up if told to, and gives what the server read or why
   * it did not. `readsLate`: only when all pieces have come, or the client has gone.
   */
  async function send(
    pieces: readonly string[],
    { hangUp = false, readsLate = false } = {},
  ): Promise<string | undefined> {
    let find: (outcome: string | undefined) => void = () => {};
    const outcome = new Promise<string | undefined>((resolve) => {
      find = resolve;
    });
    let mayRead: () => void = () => {};
    const isTime = new Promise<void>((resolve) => {
      mayRead = resolve;
    });
    const app = new Hono().all('*', async (c) => {
      if (readsLate) await isTime;
      await readBody(c, LIMIT).then(
        (bytes) => find(bytes.toString('latin1')),
        (error: { envelope?: { code: string } }) => find(error.envelope?.code),
      );
      return c.text('read');
    });
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server;
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onTestFinished(() => {
      socket.destroy();
      server.close();
    });
    const [connection] = await accepted;
    let sent = 0;
    for (const piece of pieces) {
      socket.write(piece);
      sent += piece.length;
      while (connection.bytesRead < sent) await setImmediate();
    }
    if (hangUp) {
      const gone = new Promise((resolve) => connection.once('close', resolve));
      socket.destroy();
      await gone;
    }
    mayRead();
    return outcome;
  }
  const head = (method: string, length: number) =>
    `${method} / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

  test.each([
    ['with its head', [`${head('POST', 3)}abc`], 'abc'],
    ['after its head, in pieces', [head('POST', 6), 'abc', 'def'], 'abcdef'],
    ['empty', [head('POST', 0)], ''],
    ['of GET, which has none', [`${head('GET', 3)}abc`], ''],
  ])('reads a body that comes %s', async (_name, pieces, expected) => {
    expect(await send(pieces)).toBe(expected);
    expect(await send(pieces, { readsLate: true })).toBe(expected);
  });

  test('refuses a body that breaks off', async () => {
    const cut = [head('POST', 6), 'abc'];
    expect(await send(cut, { hangUp: true })).toBe('request_cut_short');
    expect(await send(cut, { hangUp: true, readsLate: true })).toBe('request_cut_short');
  });

  test('reads the body of a client that has gone once it had sent all', async () => {
    expect(await send([`${head('POST', 3)}abc`], { hangUp: true, readsLate: true })).toBe('abc');
  });
});

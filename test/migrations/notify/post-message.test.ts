import type { ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findRefusal, type PostOptions, postMessage } from '../../../src/migrations/notify/post-message.ts';
import { signMessage } from '../../../src/migrations/notify/sign.ts';
import { type StrictReceiver, startStrictReceiver } from '../../support/strict-receiver.ts';

let receiver: StrictReceiver;
beforeAll(async () => {
  receiver = await startStrictReceiver();
});
beforeEach(() => {
  receiver.arrivals.length = 0;
  receiver.answerWith(undefined);
});
afterAll(() => receiver.stop());

function collectGarbage() {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function post(more: Partial<PostOptions> = {}) {
  const body = '{"type":"t","timestamp":"2024-03-01T12:00:00Z","text":"","data":{}}';
  const message = signMessage({ id: 'm_1', body }, { secret: receiver.secret, now: new Date() });
  const signal = new AbortController().signal;
  return postMessage(message, { url: receiver.url, allowPrivate: true, signal, ...more });
}

describe('a message', () => {
  it('is delivered by any 2xx, and by nothing else', async () => {
    expect(await post()).toEqual({ kind: 'delivered' });
    for (const status of [300, 400, 410, 500, 503]) {
      receiver.answerWith((response) => response.writeHead(status).end('no'));
      expect(await post()).toEqual({ kind: 'failed', reason: `HTTP ${status}` });
    }
    receiver.answerWith((response) => response.writeHead(202).end());
    expect(await post()).toEqual({ kind: 'delivered' });
  });

  it('follows no redirect', async () => {
    receiver.answerWith((response) => response.writeHead(307, { location: receiver.url }).end());
    expect(await post()).toEqual({ kind: 'failed', reason: 'HTTP 307' });
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('does not read an answer without an end', async () => {
    let sent = 0;
    receiver.answerWith((response: ServerResponse) => {
      response.writeHead(200);
      const flood = () => {
        if (response.destroyed) return;
        sent += 16_384;
        response.write(Buffer.alloc(16_384), flood);
      };
      flood();
    });
    expect(await post()).toEqual({ kind: 'delivered' });
    expect(sent).toBeLessThan(100 * 1024 * 1024);
  });

  it('fails in time also where memory is collected while it waits', async () => {
    receiver.answerWith(() => collectGarbage());
    expect(await post({ withinMs: 500 })).toEqual({ kind: 'failed', reason: 'no answer in time' });
  });

  it('fails where no answer comes in time, and where nobody listens, without naming the address', async () => {
    receiver.answerWith(() => {});
    expect(await post({ withinMs: 100 })).toEqual({ kind: 'failed', reason: 'no answer in time' });
    expect(await post({ url: 'http://127.0.0.1:1/T0PS3CRET' })).toEqual({
      kind: 'failed',
      reason: 'the connection failed (ECONNREFUSED)',
    });
  });
});

const NAMED = 'http://hooks.example.com/';
const resolveTo = (...addresses: readonly string[]) =>
  ((_name: string, _options: object, callback: (...args: unknown[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    )) as unknown as NonNullable<PostOptions['resolve']>;

describe('an address of this machine or of a private network', () => {
  const refused = { kind: 'failed', reason: expect.stringContaining('BACKHAUL_WEBHOOK_ALLOW_PRIVATE') };

  it.each(['127.0.0.1', '[::1]', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', '169.254.169.254'])(
    '%s is refused before anything is sent',
    async (host) => {
      expect(await post({ url: `http://${host}:1/`, allowPrivate: false })).toEqual(refused);
    },
  );

  it('is refused behind a name too, also where only one of its addresses is', async () => {
    const own = receiver.url.replace('127.0.0.1', 'localhost');
    expect(await post({ url: own, allowPrivate: false })).toEqual(refused);
    const resolve = resolveTo('93.184.215.14', '127.0.0.1');
    expect(await post({ url: NAMED, allowPrivate: false, resolve })).toEqual(refused);
    expect(receiver.arrivals).toEqual([]);
  });

  it('is not needed for a failure: a name may have no address', async () => {
    expect(await post({ url: NAMED, allowPrivate: false, resolve: resolveTo() })).toEqual({
      kind: 'failed',
      reason: 'the connection failed',
    });
  });
});

describe('an address that is looked at beforehand', () => {
  it.each([
    ['http://127.0.0.1:1/', false, /BACKHAUL_WEBHOOK_ALLOW_PRIVATE=true/],
    ['http://[::1]:1/', false, /BACKHAUL_WEBHOOK_ALLOW_PRIVATE=true/],
    ['http://localhost:1/', false, /BACKHAUL_WEBHOOK_ALLOW_PRIVATE=true/],
    ['http://127.0.0.1:1/', true, undefined],
    ['https://1.1.1.1/', false, undefined],
  ])('%s, private ones allowed: %s', async (url, allowPrivate, reason) => {
    const refusal = await findRefusal({ url, allowPrivate });
    if (reason) expect(refusal).toMatch(reason);
    else expect(refusal).toBeUndefined();
  });
});

import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { createSenderLookup } from '../../../../src/server/capture/request/sender.ts';

const createApp = (proxies?: readonly string[]) => {
  const getSender = createSenderLookup(proxies);
  return new Hono().get('/', (c) => c.json({ sender: getSender(c) ?? null }));
};

/** The sender of a request with this header, over a connection from this address (null: it has gone). */
async function sender(
  forwarded: string | undefined,
  remoteAddress?: string | null,
  proxies?: readonly string[],
): Promise<string | null> {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const env =
    remoteAddress === undefined
      ? {}
      : { incoming: { socket: { remoteAddress: remoteAddress ?? undefined } } };
  const response = await createApp(proxies).request('/', { headers }, env);
  return ((await response.json()) as { sender: string | null }).sender;
}

const CLIENT = '198.51.100.7';

test.each([
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '::1',
  'fd00::2',
  '::ffff:127.0.0.1',
  '::ffff:172.17.0.1',
])('a proxy at %s is believed', async (proxy) => {
  expect(await sender(CLIENT, proxy)).toBe(CLIENT);
  expect(await sender(undefined, proxy)).toBe(proxy);
});

test.each([
  '203.0.113.9',
  '128.0.0.1',
  '11.0.0.1',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '2001:db8::9',
  '::2',
  'fe00::1',
  '::ffff:203.0.113.9',
])('a stranger at %s is not', async (stranger) => {
  expect(await sender(CLIENT, stranger)).toBe(stranger);
});

test('a connection that has gone proves nothing', async () => {
  expect(await sender(CLIENT, null)).toBeNull();
});

test('a request from within the process is believed', async () => {
  expect(await sender(CLIENT)).toBe(CLIENT);
  expect(await sender(undefined)).toBeNull();
});

describe('behind a proxy', () => {
  const proxy = '10.0.0.1';

  test.each([
    [`${CLIENT}, 10.0.0.1`, CLIENT],
    [` ${CLIENT}:51234,10.0.0.1`, CLIENT],
    ['2001:db8::7', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[2001:db8::7]:443, 10.0.0.1', '2001:db8::7'],
    ['192.168.0.9', '192.168.0.9'],
  ])('the header %s names %s', async (header, address) => {
    expect(await sender(header, proxy)).toBe(address);
  });

  test.each([
    '',
    ',',
    `, ${CLIENT}`,
    'unknown',
    '_hidden',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4:port',
    '[1.2.3.4',
    '[]',
    'example.com',
    "'; drop table events; --",
    `fe80::1%${'z'.repeat(5000)}`,
    'x'.repeat(5000),
    '1'.repeat(5000),
    ':'.repeat(5000),
  ])('the header %s names nobody, and the connection counts', async (header) => {
    expect(await sender(header, proxy)).toBe(proxy);
  });
});

test('only the proxies of the setting are believed where there is one', async () => {
  const proxies = ['203.0.113.0/24', '2001:db8::1'];
  expect(await sender(CLIENT, '203.0.113.9', proxies)).toBe(CLIENT);
  expect(await sender(CLIENT, '2001:db8::1', proxies)).toBe(CLIENT);
  expect(await sender(CLIENT, '203.0.114.9', proxies)).toBe('203.0.114.9');
  expect(await sender(CLIENT, '127.0.0.1', proxies)).toBe('127.0.0.1');
  expect(await sender(CLIENT, '10.0.0.1', [])).toBe('10.0.0.1');
});

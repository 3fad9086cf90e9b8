import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import {
  openServiceCounts,
  type ServiceAccess,
  toPrivateUrl,
} from '../../../src/migrations/verify/ask-service.ts';
import { createQueryCounts } from '../../../src/migrations/verify/query-counts.ts';
import { type QueriedEvent, type QueryService, startQueryService } from '../../support/query-service.ts';
import { startSelfSigned } from '../../support/self-signed.ts';

const PERSONAL = 'phx_verify';
const PROJECT = 'phc_verify';
const wanted = {
  stamp: { property: "it's `odd`\\", value: 'web' },
  synthetic: ['$identify', '$group_identify'],
};

const event = (n: number, more: Partial<QueriedEvent> = {}): QueriedEvent => ({
  uuid: `u${n}`,
  event: 'a',
  distinctId: `d${n % 2}`,
  timestamp: '2024-02-29T23:59:59.999Z',
  properties: { [wanted.stamp.property]: wanted.stamp.value },
  ...more,
});
const events: QueriedEvent[] = [
  event(1),
  event(1), // not merged yet
  event(2),
  event(3, { event: 'b', timestamp: '2024-03-01T00:00:00.000Z' }),
  event(4, { event: '$identify', distinctId: 'nobody' }),
  event(5, { properties: {} }),
];

let service: QueryService;
const waits: number[] = [];
const access = (more: Partial<ServiceAccess> = {}): ServiceAccess => ({
  url: service.url,
  personalKey: PERSONAL,
  project: { key: PROJECT },
  wait: async (ms) => void waits.push(ms),
  ...more,
});

beforeEach(async () => {
  waits.length = 0;
  service = await startQueryService({
    personalKey: PERSONAL,
    projectId: 7,
    projectKey: PROJECT,
    events: () => events,
  });
});
afterEach(() => service.close());

describe('a service with queries', () => {
  it('is found by the key of the project, and counts months, days and persons', async () => {
    const counts = await openServiceCounts(access(), wanted);
    expect(await counts.listMonths()).toEqual([
      { month: '2024-02', count: 4, others: 1 },
      { month: '2024-03', count: 1, others: 0 },
    ]);
    expect(await counts.loadMonth('2024-02')).toEqual({
      cells: [
        { day: '2024-02-29', event: '$identify', count: 1, users: 1 },
        { day: '2024-02-29', event: 'a', count: 2, users: 2 },
      ],
      repeats: 1,
      users: 2,
    });
  });

  it('is read page by page', async () => {
    const ask = await openAsk();
    const counts = createQueryCounts(ask, wanted, 1);
    const { cells } = await counts.loadMonth('2024-02');
    expect(cells.map(({ event: name }) => name)).toEqual(['$identify', 'a']);
    expect(service.queries.filter((query) => query.includes('OFFSET'))).toHaveLength(3);
  });

  async function openAsk() {
    return async (query: string) => {
      const response = await fetch(`${service.url}/api/projects/7/query/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${PERSONAL}` },
        body: JSON.stringify({ query: { kind: 'HogQLQuery', query }, refresh: 'force_blocking' }),
      });
      return response.json() as Promise<unknown>;
    };
  }

  it('is asked again after 429 and 5xx, as late as it says', async () => {
    service.faults.push(
      { status: 429, body: '{"detail":"Request was throttled."}', headers: { 'retry-after': '7' } },
      { status: 503, body: '' },
    );
    const counts = await openServiceCounts(access({ project: { id: '7' } }), wanted);
    expect(waits).toEqual([7_000, 2_000]);
    expect(await counts.listMonths()).toHaveLength(2);
  });

  it('is given up when it stays down', async () => {
    for (let n = 0; n < 5; n += 1) service.faults.push({ status: 500, body: '' });
    await expect(openServiceCounts(access({ project: { id: '7' } }), wanted)).rejects.toThrow(
      /did not answer a question in 5 attempts; the last ended with 500/,
    );
  });

  it('is given up with the reason that nothing of it is reached', async () => {
    const asking = openServiceCounts(access({ url: 'http://127.0.0.1:1' }), wanted);
    await expect(asking).rejects.toThrow(/the last ended with (connect ECONNREFUSED|bad port)/);
    const named = openServiceCounts(access({ url: 'http://no-such-host.invalid' }), wanted);
    await expect(named).rejects.toThrow(/the last ended with getaddrinfo E/);
  });

  it('is not asked again with a certificate that is not accepted', async () => {
    const { url, stop } = await startSelfSigned();
    try {
      const asking = openServiceCounts(access({ url }), wanted);
      await expect(asking).rejects.toThrow(ConfigError);
      await expect(asking).rejects.toThrow(`the certificate of ${url} is of no authority`);
      expect(waits).toEqual([]);
    } finally {
      await stop();
    }
  });

  it('refuses a wrong key with what it takes, and no message holds a key', async () => {
    await expect(openServiceCounts(access({ personalKey: 'phx_wrong' }), wanted)).rejects.toThrow(
      /BACKHAUL_PERSONAL_API_KEY .*query:read/,
    );
    service.faults.push({
      status: 403,
      body: JSON.stringify({ detail: `no scope for ${PERSONAL} and ${PROJECT}` }),
    });
    await expect(openServiceCounts(access(), wanted)).rejects.toThrow(/no scope for … and …/);
  });

  it('is nothing without a project that the key sees, or with an address that answers otherwise', async () => {
    await expect(openServiceCounts(access({ project: { key: 'phc_gone' } }), wanted)).rejects.toThrow(
      /--project <id>/,
    );
    service.faults.push({ status: 302, body: '', headers: { location: 'https://elsewhere.example.com' } });
    await expect(openServiceCounts(access(), wanted)).rejects.toThrow(/--api-url/);
    service.faults.push({ status: 200, body: '<html>' });
    await expect(openServiceCounts(access(), wanted)).rejects.toThrow(/not JSON/);
  });

  it('does not take an answer without rows for none', async () => {
    const counts = await openServiceCounts(access({ project: { id: '7' } }), wanted);
    service.faults.push({ status: 200, body: '{"query_status":{"complete":false}}' });
    await expect(counts.listMonths()).rejects.toThrow(/answered something else than the rows/);
  });
});

it.each([
  ['https://us.i.posthog.com', 'https://us.posthog.com'],
  ['https://eu.i.posthog.com/', 'https://eu.posthog.com'],
  ['https://events.example.com/path/', 'https://events.example.com/path'],
])('asks %s at %s', (url, expected) => expect(toPrivateUrl(url)).toBe(expected));

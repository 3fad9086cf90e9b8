import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { MapOutcome } from '../../../../src/contract/outcome.ts';
import { stringifyJson } from '../../../../src/lib/json/stringify-json.ts';
import { findUnmatched } from '../../../../src/sources/declared/find-unmatched.ts';
import { createHideHashed } from '../../../../src/sources/declared/values/hide-hashed.ts';
import { jsonlOptions } from '../../../../src/sources/jsonl/index.ts';
import { createMapper } from '../../create-mapper.ts';

/** What an event is made of may be in the text of a column that holds JSON, as in an export of a warehouse. */
const KEY = 'a key of at least sixteen characters';
const SECRET = 'ann@example.com';
const BASE = {
  event: { constant: 'Ordered' },
  distinctId: { column: 'u' },
  timestamp: { column: 't' },
  jsonColumns: ['p'],
};
const ID = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
const DETAILS = {
  id: ID,
  name: 'Bought',
  user: 'ann',
  device: 'dev',
  at: '2023-05-02T00:00:00Z',
  company: 'acme',
  traits: { plan: 'pro' },
  items: [{ sku: 'a' }, { sku: 'b' }],
};

const map = (
  mapping: object,
  details: unknown = DETAILS,
  version?: number,
  options: object = {},
): MapOutcome =>
  createMapper(
    'jsonl',
    { mapping: { ...BASE, ...mapping }, ...options },
    { hashKey: KEY, version },
  )({
    u: 'visitor',
    t: '2023-05-01T00:00:00Z',
    p: typeof details === 'string' ? details : JSON.stringify(details),
  });
const events = (outcome: MapOutcome) => (outcome.kind === 'mapped' ? outcome.events : []);

describe('a path into the text of a column of JSON', () => {
  it('leads to the list that is unnested', () => {
    const made = events(map({ unnest: { column: 'p.items' } }));
    expect(made.map(({ properties }) => properties['p'])).toEqual([
      { ...DETAILS, items: { sku: 'a' } },
      { ...DETAILS, items: { sku: 'b' } },
    ]);
    expect(new Set(made.map(({ uuid }) => uuid)).size).toBe(2);
    const keyed = { unnest: { column: 'p.items' }, key: ['p.items.sku'] };
    const other = map(keyed, { ...DETAILS, company: 'another' });
    expect(events(map(keyed)).map(({ uuid }) => uuid)).toEqual(events(other).map(({ uuid }) => uuid));
    expect(map({ unnest: { column: 'p.items' } }, { items: [] })).toMatchObject({ reason: 'no_items' });
  });

  it('leads to the object that is spread, which is not repeated', () => {
    const [event] = events(map({ spreadColumns: ['p.traits'] }));
    const { traits: _, ...others } = DETAILS;
    expect(event?.properties).toMatchObject({ plan: 'pro', p: others });
    expect(event?.properties['p']).not.toHaveProperty('traits');
  });

  it('leads to name, time, ids and groups', () => {
    const outcome = map({
      event: { column: 'p.name' },
      distinctId: { column: ['p.user', 'u'] },
      anonymousId: { column: 'p.device' },
      timestamp: { column: ['p.at', 't'] },
      uuid: { column: 'p.id' },
      groups: [{ type: 'company', column: 'p.company' }],
    });
    expect(outcome).toMatchObject({
      events: [
        {
          ...{ event: 'Bought', uuid: ID, timestamp: '2023-05-02T00:00:00.000Z' },
          properties: { distinct_id: 'ann', $groups: { company: 'acme' } },
        },
      ],
      facts: [{ kind: 'pair', anonId: 'dev', userId: 'ann' }],
      userId: 'ann',
    });
  });

  it('leads to the key of an event, and to names that are dropped', () => {
    const uuids = ['acme', 'another'].map(
      (company) => events(map({ key: ['p.id'] }, { ...DETAILS, company }))[0]?.uuid,
    );
    expect(uuids[0]).toBe(uuids[1]);
    const dropping = { dropEvents: ['Bought'] };
    expect(map({ event: { column: 'p.name' } }, DETAILS, undefined, dropping)).toMatchObject({
      reason: 'excluded_by_manifest',
    });
  });

  it('was followed by no version before the fourth, to which migrations are pinned', () => {
    expect(map({ unnest: { column: 'p.items' } }, DETAILS, 3)).toMatchObject({ reason: 'no_items' });
    expect(map({ anonymousId: { column: 'p.device' } }, DETAILS, 3)).toMatchObject({ facts: [] });
  });

  it('makes a reject of text that is no JSON, which is shown where nothing is hashed', () => {
    const reading = { anonymousId: { column: 'p.device' } };
    expect(map(reading, '{')).toMatchObject({
      reason: 'bad_field',
      detail: 'p is "{"; the manifest says it is JSON',
    });
    const spreading = {
      spreadColumns: ['p.traits'],
      hash: { columns: ['mail'], key: '${K}' },
    };
    const bad = map(spreading, `{"traits":{"mail":"${SECRET}"`);
    expect(bad).toMatchObject({ reason: 'bad_field' });
    expect(stringifyJson(bad)).not.toContain(SECRET);
  });

  it('reaches what is hashed there, in plans as well', () => {
    const spreading = { spreadColumns: ['p.traits'], hash: { columns: ['mail'], key: '${K}' } };
    const details = { traits: { mail: SECRET } };
    const [event] = events(map(spreading, details));
    expect(event?.properties['mail']).toBe(createHmac('sha256', KEY).update(SECRET).digest('hex'));
    expect(stringifyJson(event)).not.toContain(SECRET);
    const { mapping } = jsonlOptions.parse({ mapping: { ...BASE, ...spreading } });
    const record = { u: 'visitor', p: JSON.stringify(details) };
    expect(createHideHashed(mapping)?.(record)).toEqual({
      u: 'visitor',
      p: { traits: { mail: '(hashed)' } },
    });
    expect(findUnmatched(mapping, [record])).toEqual([]);
  });
});

describe('what is hashed or excluded', () => {
  const hash = { columns: ['p.mail'], key: '${K}' };
  const twice = JSON.stringify(JSON.stringify({ mail: SECRET, plan: 'pro' }));

  it.each([
    ['hashed', { hash }, twice],
    ['hashed beside a typed value', { hash, types: { 'p.plan': 'text' } }, twice],
    ['excluded', { exclude: ['p.mail'] }, twice],
    [
      'hashed in a column of the type json',
      { hash, jsonColumns: [], types: { p: 'json' } },
      JSON.parse(twice),
    ],
    [
      'excluded in such a column',
      { exclude: ['p.mail'], jsonColumns: [], types: { p: 'json' } },
      JSON.parse(twice),
    ],
  ])('is %s also in text within text', (_, mapping, text) => {
    const outcome = map(mapping, text);
    expect(events(outcome)[0]?.properties['p']).toMatchObject({ plan: 'pro' });
    expect(stringifyJson(outcome)).not.toContain(SECRET);
    const { mapping: read } = jsonlOptions.parse({ mapping: { ...BASE, ...mapping } });
    expect(stringifyJson(createHideHashed(read)?.({ u: 'visitor', p: text }) ?? {})).not.toContain(SECRET);
  });

  it('leaves a text of JSON that is a text what it is', () => {
    for (const more of [
      {},
      { hash },
      { types: { 'p.plan': 'text' } },
      { anonymousId: { column: 'p.device' } },
    ])
      expect(events(map(more, '"hello"'))[0]?.properties['p']).toBe('hello');
  });
});

import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { createRandom } from '../../support/seeded-random.ts';
import { countCases, TEST_SEED } from '../../support/test-seed.ts';
import { createMapper } from '../create-mapper.ts';

const base = { messageId: 'm-1', timestamp: '2023-05-01T00:00:00Z', userId: 'ann' };
interface Settings {
  readonly source?: 'segment' | 'rudderstack';
  readonly version?: number;
  readonly dropIp?: boolean;
}
const map = (call: object, { source = 'segment', version, ...options }: Settings = {}) =>
  createMapper(source, options, { version })({ ...base, ...call });
const readProperties = (call: object, settings: Settings = {}) => {
  const outcome = map(call, settings);
  if (outcome.kind !== 'mapped') throw new Error(outcome.kind);
  return outcome.events[0]?.properties ?? { distinct_id: '' };
};

describe('a value whose name another one takes', () => {
  const page = { type: 'page', name: 'Home', category: 7, properties: { name: 'Start', category: 'Shop' } };

  it('is kept beside it', () => {
    expect(readProperties(page)).toMatchObject({
      ...{ name: 'Start', source_name: 'Home' },
      ...{ category: 'Shop', source_category: 7 },
    });
  });

  it('was lost before version 4, to which migrations are pinned', () => {
    const { source_name: name, source_category: category } = readProperties(page, { version: 3 });
    expect([name, category]).toEqual([undefined, undefined]);
  });

  it('is not kept where both are the same', () => {
    const same = readProperties({ type: 'page', name: 'Home', properties: { name: 'Home' } });
    expect(Object.keys(same).filter((name) => name.startsWith('source_'))).toEqual([]);
  });

  it('takes no name of the customer’s', () => {
    const properties = { title: 'own', source_title: 'taken' };
    const context = { page: { title: 'of the page' } };
    expect(readProperties({ type: 'track', event: 'E', context, properties })).toMatchObject({
      ...properties,
      source_source_title: 'of the page',
    });
  });

  it('is not kept where it is an address that the manifest drops', () => {
    const call = {
      type: 'track',
      event: 'E',
      context: { ip: '192.0.2.1' },
      properties: { $ip: '192.0.2.2' },
    };
    expect(readProperties(call)).toMatchObject({ $ip: '192.0.2.2', source_$ip: '192.0.2.1' });
    expect(stringifyJson(readProperties(call, { dropIp: true }))).not.toContain('192.0.2');
  });
});

it('drops an address under every name that it is kept by', () => {
  const properties = { $ip: '192.0.2.2', source_$ip: '192.0.2.3' };
  const call = { type: 'track', event: 'E', context: { ip: '192.0.2.1' }, properties };
  expect(readProperties(call)).toMatchObject({ source_source_$ip: '192.0.2.1' });
  expect(stringifyJson(readProperties(call, { dropIp: true }))).not.toContain('192.0.2');
});

describe('a field of the context', () => {
  const readContext = (context: unknown, properties?: object) =>
    readProperties({ type: 'track', event: 'E', context, properties });

  it('is kept where another one comes to its name, whichever is first', () => {
    const ofApple = { a_b: 1, a: { b: 2 } };
    expect(readContext(ofApple)).toMatchObject({ context_a_b: 2, source_context_a_b: 1 });
    const { a, a_b } = ofApple;
    expect(readContext({ a, a_b })).toMatchObject({ context_a_b: 1, source_context_a_b: 2 });
    expect(readContext({ device_type: 'x', device: { type: 'y' } })).toMatchObject({
      context_device_type: 'y',
      source_context_device_type: 'x',
    });
    expect(readContext({ x_y_z: 1, x: { y_z: 2, y: { z: 3 } } }, { source_context_x_y_z: 4 })).toMatchObject({
      ...{ context_x_y_z: 3, source_context_x_y_z: 4 },
      ...{ source_source_context_x_y_z: 2, source_source_source_context_x_y_z: 1 },
    });
  });

  it('leaves a property of its name beside it, where it is no object', () => {
    expect(readContext('text', { context: 'own' })).toMatchObject({ context: 'text', source_context: 'own' });
  });
});

it.each(['segment', 'rudderstack'] as const)(
  'keeps the session and the place of a customer’s own (%s)',
  (source) => {
    const name = `${source}_session_id`;
    const properties = { [name]: 'mine', $geoip_disable: false };
    const call = { type: 'track', event: 'E', context: { sessionId: 'my-session' }, properties };
    expect(readProperties(call, { source })).toMatchObject({
      ...{ [name]: 'my-session', [`source_${name}`]: 'mine' },
      ...{ $geoip_disable: true, source_$geoip_disable: false },
    });
    const same = { ...call, properties: { [name]: 'my-session', $geoip_disable: true } };
    expect(Object.keys(readProperties(same, { source })).filter((key) => key.startsWith('source_'))).toEqual(
      [],
    );
  },
);

it('keeps a screen, a session and what other calls read', () => {
  const properties = { $screen_name: 'own', $session_id: 'own session' };
  const context = { sessionId: 1_682_899_200_000, session_id: 'other', groupId: ['a', 'b'], traits: 'none' };
  const call = { type: 'screen', name: 'Home', event: 'Screen Seen', groupId: 'g', properties, context };
  expect(readProperties(call)).toMatchObject({
    ...{ $screen_name: 'Home', source_$screen_name: 'own', source_event: 'Screen Seen', source_groupId: 'g' },
    ...{ source_$session_id: 'own session', context_session_id: 'other' },
    ...{ context_groupId: ['a', 'b'], context_traits: 'none' },
  });
});

it.each([
  [{ type: 'group', groupId: 'g', traits: ['a'] }, 'traits is a list; an object was expected'],
  [{ type: 'identify', context: { traits: 'a' } }, 'context.traits is "a"; an object was expected'],
  [{ type: 'identify', context: 'a' }, 'context is "a"; an object was expected'],
])('%j is a reject: what it is made for cannot be read', (call, detail) => {
  expect(map(call)).toMatchObject({ kind: 'rejected', reason: 'bad_field', detail });
  expect(map(call, { version: 3 }).kind).toBe('skipped');
});

const CASES = countCases(2_000, 30_000);

it(`no value of an event is lost, in ${CASES} random calls (seed ${TEST_SEED})`, () => {
  const random = createRandom(TEST_SEED);
  const isSo = (chance: number) => random() < chance;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const kinds = new Set<string>();
  for (let number = 0; number < CASES; number += 1) {
    const source = pick(['segment', 'rudderstack'] as const);
    let leaves = 0;
    const leaf = () => {
      leaves += 1;
      const value = pick([`<${leaves}>`, `<${leaves}>`, 1_000_000 + leaves]);
      return isSo(0.15) ? [value] : isSo(0.15) ? { x: value } : value;
    };
    const some = (names: readonly string[]) =>
      Object.fromEntries(names.filter(() => isSo(0.4)).map((name) => [name, leaf()]));
    const OWN = ['name', 'category', 'title', 'url', 'path', 'referrer', '$current_url', '$screen_name'];
    const NAMED_BY_US = [`${source}_session_id`, '$geoip_disable', 'context', 'context_a_b'];
    const PAGE = ['title', 'url', 'path', 'referrer', 'search'];
    const fields = {
      ...some(['traits', 'groupId', 'sessionId', 'session_id', 'locale', 'a_b', 'a_b_c', 'device_type']),
      ...some(['page_search']),
      page: some(PAGE),
      device: some(['type']),
      a: { ...some(['b_c']), b: isSo(0.5) ? leaf() : some(['c']) },
    };
    const order = Object.entries(fields);
    const context = isSo(0.1) ? leaf() : Object.fromEntries(isSo(0.5) ? order : order.reverse());
    const call = {
      ...{ type: pick(['track', 'page', 'screen']), event: 'E', ...some(['name', 'category', 'groupId']) },
      ...(isSo(0.3) ? { event: leaf() } : {}),
      properties: some([...OWN, ...NAMED_BY_US, '$session_id', '$locale', 'sent_at', 'previousId']),
      context,
    };
    const outcome = map(call, { source });
    kinds.add(outcome.kind);
    if (outcome.kind === 'rejected') continue;
    const sent = stringifyJson(outcome) ?? '';
    const values = (stringifyJson(call) ?? '').match(/<\d+>|10000\d\d/g) ?? [];
    for (const value of values) expect(sent.includes(value), stringifyJson({ value, call, sent })).toBe(true);
  }
  expect([...kinds].sort()).toEqual(['mapped', 'rejected']);
});

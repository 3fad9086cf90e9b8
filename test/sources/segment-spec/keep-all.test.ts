import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { createRandom } from '../../support/seeded-random.ts';
import { countCases, TEST_SEED } from '../../support/test-seed.ts';
import { createMapper } from '../create-mapper.ts';

const base = { messageId: 'm-1', timestamp: '2023-05-01T00:00:00Z', userId: 'ann' };
const map = (call: object, { version, ...options }: { version?: number; dropIp?: boolean } = {}) =>
  createMapper('segment', options, { version })({ ...base, ...call });
const readProperties = (call: object, settings: { version?: number; dropIp?: boolean } = {}) => {
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
    let leaves = 0;
    const leaf = () => {
      leaves += 1;
      const value = pick([`<${leaves}>`, `<${leaves}>`, 1_000_000 + leaves]);
      return isSo(0.15) ? [value] : isSo(0.15) ? { x: value } : value;
    };
    const some = (names: readonly string[]) =>
      Object.fromEntries(names.filter(() => isSo(0.4)).map((name) => [name, leaf()]));
    const OWN = ['name', 'category', 'title', 'url', 'path', 'referrer', '$current_url', '$screen_name'];
    const PAGE = ['title', 'url', 'path', 'referrer', 'search'];
    const context = isSo(0.1)
      ? leaf()
      : { ...some(['traits', 'groupId', 'sessionId', 'session_id', 'locale']), page: some(PAGE) };
    const call = {
      ...{ type: pick(['track', 'page', 'screen']), event: 'E', ...some(['name', 'category', 'groupId']) },
      ...(isSo(0.3) ? { event: leaf() } : {}),
      properties: some([...OWN, '$session_id', '$locale', 'sent_at', 'previousId']),
      context,
    };
    const outcome = map(call);
    kinds.add(outcome.kind);
    if (outcome.kind === 'rejected') continue;
    const sent = stringifyJson(outcome) ?? '';
    const values = (stringifyJson(call) ?? '').match(/<\d+>|10000\d\d/g) ?? [];
    for (const value of values) expect(sent.includes(value), stringifyJson({ value, call, sent })).toBe(true);
  }
  expect([...kinds].sort()).toEqual(['mapped', 'rejected']);
});

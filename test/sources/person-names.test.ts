import { expect, it } from 'vitest';
import { type IdentityFact, readValues, WHOLE_MARK } from '../../src/contract/identity-fact.ts';
import { createBytesParser } from '../../src/sources/formats/parse-record.ts';
import { bindSource, getSourceType } from '../../src/sources/registry.ts';
import { createImportMap } from '../../src/sources/source.ts';

/** Names of properties of persons and groups that an object treats like no other. */

const mapping = {
  event: { constant: 'Opened' },
  distinctId: { column: 'user' },
  timestamp: { column: 'at' },
  person: { set: { prefix: 'p_', columns: ['__proto__'] }, setOnce: { prefix: 'o_' } },
  groups: [{ type: 'company', column: 'company', set: { prefix: 'g_' } }],
  rename: { p_role: '__proto__', o_role: '__proto__', g_role: '__proto__' },
};
const base = '"user":"u-1","company":"Acme","at":"2023-03-14T09:26:53Z"';
const call = '"userId":"u-1","groupId":"Acme","timestamp":"2023-03-14T09:26:53Z"';
const odd = '{"__proto__":"x","constructor":"y"}';
const user = '"user_id":"u-1","event_time":"2023-03-14 09:26:53","event_type":"$identify"';
const given = { source___proto__: 'x', constructor: 'y' };

const CASES: readonly [what: string, type: string, block: object, text: string, ...facts: unknown[]][] = [
  ['declared set', 'jsonl', { mapping }, `{${base},"p___proto__":"x","p_constructor":"y"}`, given],
  ['declared set_once', 'jsonl', { mapping }, `{${base},"o___proto__":"x","o_constructor":"y"}`, given],
  ['declared group', 'jsonl', { mapping }, `{${base},"g___proto__":"x","g_constructor":"y"}`, given],
  ['declared column', 'jsonl', { mapping }, `{${base},"__proto__":"x","p_constructor":"y"}`, given],
  [
    'declared rename',
    'jsonl',
    { mapping },
    `{${base},"p_role":"x","o_role":"x","g_role":"x"}`,
    ...Array.from({ length: 3 }, () => ({ source___proto__: 'x' })),
  ],
  ['Segment traits', 'segment', {}, `{"type":"identify",${call},"traits":${odd}}`, given],
  [
    'Segment traits of both places',
    'segment',
    {},
    `{"type":"identify",${call},"traits":{"__proto__":"x"},"context":{"traits":${odd}}}`,
    given,
  ],
  ['Segment group', 'segment', {}, `{"type":"group",${call},"traits":${odd}}`, given],
  ['RudderStack traits', 'rudderstack', {}, `{"type":"identify",${call},"traits":${odd}}`, given],
  ['Amplitude set', 'amplitude', {}, `{${user},"user_properties":${odd}}`, given],
  [
    'Amplitude set with a long number',
    'amplitude',
    {},
    `{${user},"user_properties":${odd},"group_properties":{"company":{"Acme":${odd}}}}`,
    given,
    given,
  ],
];

it.each(CASES)(
  '%s: __proto__ arrives as source___proto__, all others as they are',
  (_what, type, block, text, ...expected) => {
    const source = bindSource(getSourceType(type).block.parse({ type, from: 'x', ...block }));
    const record = Buffer.from(text);
    const map = createImportMap(source);
    // A view where the map takes them, and the parsed record.
    for (const fields of [map.viewFields, undefined]) {
      const parsed = createBytesParser({ kind: 'json' }, undefined, fields)(record, 0, record.length);
      if (parsed.kind === 'rejected') throw new Error(parsed.detail);
      const outcome = map(parsed.value);
      if (outcome.kind === 'rejected') throw new Error(outcome.detail);
      expect(outcome.facts.flatMap(listValues)).toEqual(expected);
    }
  },
);

function listValues(fact: IdentityFact): unknown[] {
  if (fact.kind !== 'group' && fact.kind !== 'person') return [];
  const all = fact.kind === 'group' ? [fact.set] : [fact.set, fact.setOnce];
  return all.flatMap((values) => {
    if (!values) return [];
    const { [WHOLE_MARK]: _mark, ...named } = readValues(values);
    return [named];
  });
}

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { applyChanges, findChanges } from '../../../../src/server/capture/ingest/person-changes.ts';
import { isJsonObject, type JsonObject, sameJson } from '../../../../src/server/http/json.ts';

const value = fc.oneof(
  fc.constantFrom('a', 'b', 1, true, null),
  fc.constantFrom([], [1], {}).map((shared) => structuredClone(shared)),
);
const properties = fc.dictionary(
  fc.constantFrom('$os', '$initial_os', 'utm_source', '$initial_utm_source', 'plan', '__proto__'),
  value,
);
const event = fc.record(
  {
    $os: value,
    utm_source: value,
    $set: properties,
    $set_once: properties,
    $unset: fc.subarray(['$os', 'plan', '$initial_os', 'unknown']),
  },
  { requiredKeys: [] },
);

const toObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** What the rules say, each value in its turn. */
function change(known: ReadonlyMap<string, unknown>, sent: JsonObject): Map<string, unknown> {
  const changed = new Map(known);
  const copied = Object.entries(sent).filter(([key]) => key === '$os' || key === 'utm_source');
  for (const [key, copy] of copied) {
    const initial = `$initial_${key.replace(/^\$/, '')}`;
    if (!known.has(initial)) changed.set(initial, copy);
  }
  for (const [key, first] of Object.entries(toObject(sent['$set_once'])))
    if (!known.has(key)) changed.set(key, first);
  for (const [key, copy] of copied) changed.set(key, copy);
  for (const [key, set] of Object.entries(toObject(sent['$set']))) changed.set(key, set);
  for (const key of (sent['$unset'] as string[] | undefined) ?? []) changed.delete(key);
  return changed;
}

test('an event that changes a person leaves what its values say', () => {
  fc.assert(
    fc.property(properties, event, fc.constantFrom('e', '$set'), (before, sent, name) => {
      const known = new Map(Object.entries(before));
      const changes = findChanges(known, { event: name, properties: sent });
      const expected = change(known, sent);
      if (changes === undefined) {
        // Visit facts that merely differ wait for another change.
        for (const key of ['$initial_os', '$initial_utm_source', 'plan', '__proto__'])
          expect(sameJson(expected.get(key), known.get(key))).toBe(true);
        if (name === '$set') expect(sameJson([...expected], [...known])).toBe(true);
        return;
      }
      const after = new Map(known);
      applyChanges(after, changes);
      expect(Object.fromEntries(after)).toEqual(Object.fromEntries(expected));
    }),
    { numRuns: 2_000 },
  );
});

test('scalars that the person has already are no changes', () => {
  const known = new Map<string, unknown>(
    Object.entries({ plan: 'pro', seats: 3, $os: 'Linux', tags: ['a'] }),
  );
  const properties = { $os: 'Linux', $set: { plan: 'pro', seats: 4, tags: ['a'] }, $unset: ['unknown'] };
  const changes = findChanges(known, { event: 'e', properties });
  expect([...(changes ?? [])]).toEqual([
    ['$initial_os', 'Linux'],
    ['seats', 4],
    ['tags', ['a']],
  ]);
});

test('a scalar that was taken over from a merged person is a change where an event sets it', () => {
  const known = new Map([['email', 'a@example.com']]);
  const event = { event: 'e', properties: { $set: { email: 'a@example.com', plan: 'pro' } } };
  const list = (takenOver: ReadonlySet<string>) => [...(findChanges(known, event, takenOver)?.keys() ?? [])];
  expect(list(new Set(['email']))).toEqual(['email', 'plan']);
  expect(list(new Set())).toEqual(['plan']);
});

test('what takes precedence is a change, also where it is what the person has', () => {
  const known = new Map<string, unknown>(Object.entries({ $os: 'Linux', $initial_os: 'Linux' }));
  const properties = { $os: 'Windows', $set: { $os: 'Linux' } };
  const changes = findChanges(known, { event: '$set', properties });
  expect([...(changes ?? [])]).toEqual([]);
  const sent = { ...properties, $set: { $os: 'Linux', a: 1 } };
  const other = findChanges(known, { event: '$set', properties: sent });
  expect([...(other ?? [])]).toEqual([
    ['$os', 'Linux'],
    ['a', 1],
  ]);
});

import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { createRandom } from '../../support/seeded-random.ts';
import { countCases, TEST_SEED } from '../../support/test-seed.ts';
import { createMapper } from '../create-mapper.ts';

const base = { event: { constant: 'E' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };
const common = { u: 'ann', t: '2023-05-01T00:00:00Z' };

function readProperties(mapping: object, fields: object, version?: number) {
  const map = createMapper('jsonl', { mapping: { ...base, ...mapping } }, { version });
  const outcome = map({ ...common, ...fields });
  if (outcome.kind !== 'mapped') throw new Error(outcome.kind);
  const { distinct_id: _id, ...properties } = outcome.events[0]?.properties ?? { distinct_id: '' };
  const { $geoip_disable: _places, ...own } = properties;
  return own;
}

describe('a field that is renamed inside a list', () => {
  const mapping = { rename: { 'items.sku': 'id' } };

  it.each([[{ id: 7, sku: 'x' }], [{ sku: 'x', id: 7 }]])('leaves what has its name: %j', (item) => {
    expect(readProperties(mapping, { items: [item] })).toEqual({ items: [{ id: 'x', source_id: 7 }] });
  });

  it('leaves it in a list of what is spread', () => {
    const spread = { spreadColumns: ['props'], ...mapping };
    expect(readProperties(spread, { props: { items: [{ id: 7, sku: 'x', n: 1 }] } })).toEqual({
      items: [{ id: 'x', source_id: 7, n: 1 }],
    });
  });

  it('takes the name in the order of the manifest, and no name that is taken', () => {
    const several = { rename: { 'items.b': 'id', 'items.a': 'id' }, exclude: ['items.secret'] };
    const item = { a: 1, id: 3, source_id: 4, b: 2, secret: 5 };
    expect(readProperties(several, { items: [item] })).toEqual({
      items: [{ id: 2, source_id: 4, source_source_id: 1, source_source_source_id: 3 }],
    });
  });

  it('leaves the name to a value where it has none itself, and says nothing twice', () => {
    expect(readProperties(mapping, { items: [{ id: 7, sku: null }] })).toEqual({ items: [{ id: 7 }] });
    expect(readProperties(mapping, { items: [{ id: 7, sku: 7 }] })).toEqual({ items: [{ id: 7 }] });
  });

  it('has its own rules for what is inside of it', () => {
    const inner = { rename: { 'items.sku': 'id' }, exclude: ['items.sku.mail'] };
    expect(readProperties(inner, { items: [{ id: 7, sku: { mail: 'x', n: 1 } }] })).toEqual({
      items: [{ id: { n: 1 }, source_id: 7 }],
    });
  });

  it('wrote over it before version 5, to which migrations are pinned', () => {
    expect(readProperties(mapping, { items: [{ sku: 'x', id: 7 }] }, 4)).toEqual({ items: [{ id: 7 }] });
  });
});

describe('a path to what is spread', () => {
  const mapping = { spreadColumns: ['a.b'] };

  it('takes out what it names in a list as well, of which nothing is spread', () => {
    expect(readProperties(mapping, { a: [{ b: { n: 1 }, c: 2 }] })).toEqual({ a: [{ c: 2 }] });
  });

  it('takes out what was spread, and a column of which nothing is left', () => {
    expect(readProperties(mapping, { a: { b: { n: 1 }, c: 2 } })).toEqual({ n: 1, a: { c: 2 } });
    expect(readProperties(mapping, { a: { b: { n: 1 } } })).toEqual({ n: 1 });
  });

  it('takes it out of the object that a person has, too', () => {
    const map = createMapper('jsonl', {
      mapping: { ...base, ...mapping, person: { set: { columns: ['a'] } } },
    });
    expect(map({ ...common, a: { b: { n: 1 }, c: 2 } })).toMatchObject({
      events: [{ properties: { n: 1 } }],
      facts: [{ kind: 'person', set: { a: { c: 2 } } }],
    });
  });
});

const CASES = countCases(2_000, 50_000);

it(`every value that no rule leaves out or spreads is sent, in ${CASES} random records (seed ${TEST_SEED})`, () => {
  const random = createRandom(TEST_SEED);
  const isSo = (chance: number) => random() < chance;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const NAMES = ['a', 'b', 'c', 'a.b', 'b.c', '$set', '__proto__', '1'];
  let mapped = 0;

  for (let number = 0; number < CASES; number += 1) {
    const leaves: { readonly value: string; readonly path: readonly string[] }[] = [];
    const createFields = (path: readonly string[]): object =>
      Object.fromEntries(
        Array.from({ length: pick([1, 2, 3]) }, () => pick(NAMES))
          .filter((name, index, all) => all.indexOf(name) === index)
          .map((name) => [name, createValue([...path, name])]),
      );
    const createValue = (path: readonly string[]): unknown => {
      if (path.length < 4 && isSo(0.5)) {
        return isSo(0.3) ? Array.from({ length: 2 }, () => createValue(path)) : createFields(path);
      }
      const value = `<${leaves.length}>`;
      leaves.push({ value, path });
      return value;
    };
    const fields = createFields([]);
    const somePath = (): string => {
      const { path } = leaves.length > 0 ? pick(leaves) : { path: ['a'] };
      const from = isSo(0.2) ? 1 : 0;
      return path.slice(from, from + 1 + Math.floor(random() * path.length)).join('.') || 'a';
    };
    const some = () => (isSo(0.5) ? [somePath(), somePath()] : []);
    const exclude = some();
    const spreadColumns = isSo(0.5) ? [somePath()] : [];
    const mapping = {
      ...base,
      exclude,
      spreadColumns,
      rename: Object.fromEntries(some().map((path) => [path, pick(['new', 'a', 'b', '$set'])])),
      ...(isSo(0.3) ? { person: { set: { columns: some() } } } : {}),
    };
    const outcome = createMapper('jsonl', { mapping })({ ...common, ...fields });
    if (outcome.kind !== 'mapped') continue;
    mapped += 1;
    const sent = stringifyJson(outcome) ?? '';
    for (const { value, path } of leaves) {
      const isNamed = (names: readonly string[]) =>
        names.some((_, index) => exclude.includes(names.slice(0, index + 1).join('.')));
      const isField = path.some(
        (_, index) => spreadColumns.includes(path.slice(0, index).join('.')) && isNamed(path.slice(index)),
      );
      const isInSpread = path.some((_, index) => spreadColumns.includes(path.slice(0, index + 1).join('.')));
      if (isNamed(path) || isField || isInSpread) continue;
      expect(sent.includes(value), stringifyJson({ value, fields, mapping, sent })).toBe(true);
    }
  }
  expect(mapped).toBeGreaterThan(CASES / 2);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderSnapshot } from '../../../src/identity/render-snapshot.ts';
import { canonicalJson } from '../../../src/lib/json/canonical-json.ts';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import {
  covers,
  findNewestSet,
  NO_PROPERTIES,
  parseProperties,
  renderProperties,
  splitMembers,
  toSnapshots,
} from '../../../src/state/facts/snapshots.ts';

const key = fc.oneof(fc.constantFrom('a', '"', '\\', 'x":1,"y', '__proto__', 'ü\t', '{}', '1'), fc.string());
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>('","', '\\"', '}{', 0.1, -0, new ExactNumber('1234567890123456789')),
);
const values = fc.dictionary(key, value, { maxKeys: 6 });

describe('a snapshot', () => {
  it('is the canonical text of its values, which are cut out of it again', () => {
    fc.assert(
      fc.property(values, (all) => {
        const text = renderSnapshot(all);
        expect(text).toBe(canonicalJson(all));
        const members: [string, string][] = [];
        splitMembers(text, (name, member) => members.push([name, member]));
        const keys = Object.keys(all).sort();
        expect(members).toEqual(keys.map((name) => [name, canonicalJson(all[name])]));
      }),
      { numRuns: 500 },
    );
  });

  it('covers another one that has no member beside its own', () => {
    const covered = { a: 1, 'b"': { c: '}' }, d: [1, ','], e: 'x' };
    const text = renderSnapshot(covered);
    expect(covers(text, text)).toBe(true);
    expect(covers(text, '{}')).toBe(true);
    expect(covers('{}', text)).toBe(false);
    expect(covers(text, '{"f":1}')).toBe(false);
    expect(covers(text, '{"d":2}')).toBe(true);
    fc.assert(
      fc.property(values, values, fc.boolean(), (a, b, isPart) => {
        const all = isPart ? { ...b, ...a } : a;
        const names = Object.keys(all);
        const isCovered = Object.keys(b).every((name) => names.includes(name));
        expect(covers(renderSnapshot(all), renderSnapshot(b))).toBe(isCovered);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves out what is undefined, however many objects of its shape came before', () => {
    expect([{ b: 1, a: 2 }, { b: undefined, a: 3 }, { b: 4, a: undefined }, {}].map(renderSnapshot)).toEqual([
      '{"a":2,"b":1}',
      '{"a":3}',
      '{"b":4}',
      '{}',
    ]);
  });

  it('groups properties of one time, newest first', () => {
    const properties = [
      { key: 'b', time: '2023-01-01', text: '1' },
      { key: 'c', time: '2023-01-02', text: '2' },
      { key: 'a', time: '2023-01-01', text: '"x"' },
    ];
    expect(toSnapshots(properties)).toEqual([
      { time: '2023-01-02', text: '{"c":2}' },
      { time: '2023-01-01', text: '{"a":"x","b":1}' },
    ]);
  });
});

describe('properties as text', () => {
  it('keep what was set apart from what was set once', () => {
    const set = [
      { time: '2023-01-02', text: '{"a":1}' },
      { time: '2023-01-01', text: '{"b":1}' },
    ];
    const setOnce = [{ time: '2023-01-03', text: '{"c":1}' }];
    const text = renderProperties(set, setOnce);
    expect(parseProperties(text)).toEqual({ set, setOnce });
    expect(findNewestSet(text)).toBe('2023-01-02');
    expect(findNewestSet(renderProperties([], setOnce))).toBe('');
    expect(renderProperties([], [])).toBe(NO_PROPERTIES);
    expect(parseProperties(NO_PROPERTIES)).toEqual({ set: [], setOnce: [] });
  });

  it.each(['', 'x', '1', '1\t2023', '2\t2023\t{}', '-1'])('are refused where they are none: %j', (text) => {
    expect(() => parseProperties(text)).toThrow();
  });
});

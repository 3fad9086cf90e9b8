import { expect, test } from 'vitest';
import { BucketLines } from '../../../src/state/facts/bucket-lines.ts';
import {
  parseResolvedFact,
  type ResolvedFact,
  writeResolvedFact,
} from '../../../src/state/facts/resolved-facts.ts';

function renderResolvedFact(fact: ResolvedFact): string {
  const lines = new BucketLines();
  writeResolvedFact(fact, lines);
  return String(lines.texts().buckets[0]?.body).slice(0, -1);
}

const of = '07ab34567890abcdef123456';
const time = '2023-01-01T00:00:00.000Z';
const properties = `1\t${time}\t{"plan":"team"}`;
const person = { kind: 'person', of, id: 'ü "1"\n\t', isAlias: false, properties } as const;
const group = { kind: 'group', of, groupType: 'a\tb', groupKey: '\\', time, properties } as const;

test('a line holds all of its fact, behind the hash that it is sorted by', () => {
  const facts: ResolvedFact[] = [
    person,
    { ...person, isAlias: true },
    { ...person, months: [24_276, 24_277] },
    { ...person, isAlias: true, months: [] },
    { ...person, properties: '0' },
    group,
    { kind: 'floor', of, timeMs: 1_672_531_200_000.5 },
    { kind: 'floor', of, key: 'a "plan"\t', timeMs: 5 },
  ];
  for (const fact of facts) {
    expect(renderResolvedFact(fact).startsWith(of)).toBe(true);
    expect(renderResolvedFact(fact)).not.toContain('\n');
    expect(parseResolvedFact(renderResolvedFact(fact))).toEqual(fact);
  }
});

test('lines of a turn that an earlier version began are read', () => {
  const read = (fact: object) => parseResolvedFact(JSON.stringify(fact));
  const set = [['plan', time, '"team"']];
  const { properties: _, ...earlier } = person;
  const { properties: __, ...earlierGroup } = group;
  expect(read({ ...earlier, set, setOnce: [] })).toEqual(person);
  expect(read({ ...earlierGroup, set })).toEqual(group);
  expect(read({ kind: 'floor', of, timeMs: 5 })).toEqual({ kind: 'floor', of, timeMs: 5 });
});

test.each(['', of, `${of}p`, `${of}x\t"u1"`, `${of}p\t"u1"`, `${of}f\tsoon`, '{"kind":"person"}'])(
  'a line that is no resolved fact is refused: %j',
  (line) => {
    expect(() => parseResolvedFact(line)).toThrow();
  },
);

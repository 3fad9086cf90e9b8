import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../../../src/lib/json/stringify-json.ts';
import { runSql, sql } from '../../../../src/server/database/sql.ts';
import { parseJsonObject } from '../../../../src/server/http/json.ts';
import { compileFilter } from '../../../../src/server/query/compile-filter.ts';
import type { CohortDefinition } from '../../../../src/server/query/definitions/cohort-definition.ts';
import { type Filter, NEGATIONS, TESTS } from '../../../../src/server/query/filter.ts';
import { compileMatch } from '../../../../src/server/query/match/filter.ts';
import { compileMatchProperty } from '../../../../src/server/query/match/property.ts';
import { parseFilter } from '../../../../src/server/query/parse-filter.ts';
import { onEveryDatabase } from '../../../support/databases.ts';

const NOW = Date.parse('2024-03-10T12:00:00Z');
const RUNS = 250;
const PERSONS_OF_RUN = 40;

/** Few enough that filters and persons meet. */
const texts = fc.constantFrom(
  ...['', ' ', '0', '1', '01', '1.0', '10', '9', '-5', '1e3', '1000', '0.1', '0.10000000000000000001', ' 7 '],
  ...[
    'true',
    'True',
    'FALSE',
    'null',
    'NaN',
    'Ada',
    'ada',
    'ADA',
    'Ada Lovelace',
    'a\nb',
    'a.b',
    '%',
    '\\',
    '"',
  ],
  ...['ä', 'Ä', 'é', '🙂', '\uffee', '2024-03-01', '2024-03-01T10:30:00Z', '2024-03-01 10:30:00.123456+02'],
  ...[
    '2024-02-30',
    '-7d',
    '9d',
    '1.2.3',
    'v1.2',
    '0.2.9',
    '10.0.0+5',
    '1.2.3\n',
    '0.0.3.4',
    'alice@example.com',
    '1234567890123456789',
    '[1, 2]',
    '{"a": 1}',
  ],
);
const numbers = fc.oneof(
  fc.constantFrom(0, -0, 1, -5, 9, 10, 0.1, 1e-7, 1e21, 1000, 7, 2 ** 53),
  fc.integer({ min: -20, max: 20 }),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e25, max: 1e25 }),
);
const storedJson = fc.oneof(
  { weight: 6, arbitrary: texts.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: numbers.map((number) => JSON.stringify(number)) },
  fc.constantFrom('true', 'false', 'null', '1234567890123456789', '1e400', '-1234567890123456789.5', '1E5'),
  fc.constantFrom('[]', '["a",1]', '{"b":1,"a":[true,null],"aa":"x"}', '[1,2]', '{"a":1}'),
);
const persons = fc.dictionary(fc.constantFrom('k', 'l', 'm'), storedJson, { maxKeys: 3 }).map(
  (entries) =>
    `{${Object.entries(entries)
      .map(([key, value]) => `"${key}":${value}`)
      .join(',')}}`,
);
const patterns = fc.constantFrom(
  ...[
    'a',
    '^a',
    'a$',
    '^$',
    '.',
    '^.$',
    '[a-z]+',
    '\\d+',
    '^\\d+$',
    '\\D',
    '\\w+@\\w+\\.com$',
    '(?i)ada',
    'a.b',
  ],
  ...[
    '(',
    '[',
    'a{2}',
    '\\bAda\\b',
    '\\Z',
    'A\\z',
    '\\u0041',
    '\\x41',
    '[^\\s]+',
    '^(?:a|A)',
    'a|1',
    '\\.',
    '(?m)^b',
  ],
  ...['[[:alpha:]]', '\\\\', 'x{0,3}', '(a)\\1', '(?=a)', '1?0', '[\\d.]+$', '"', '🙂', '^ä', '\\n'],
);
const versions = fc.constantFrom(
  ...['1', '1.0', '1.2.3', '0.2.1', '0.0.3', '1.*', '1.2.*', 'v2', '10.0.0-rc.1', 'x'],
);
const operators = fc.constantFrom(...TESTS, ...(Object.keys(NEGATIONS) as (keyof typeof NEGATIONS)[]));
const properties = operators.chain((operator) => {
  const one = operator.endsWith('regex')
    ? patterns
    : operator.startsWith('semver')
      ? versions
      : fc.oneof(texts, numbers, fc.boolean());
  const value = operator.endsWith('between')
    ? fc.array(fc.oneof(texts, numbers), { minLength: 2, maxLength: 2 })
    : fc.oneof(one, fc.array(one, { maxLength: 3 }));
  return fc.record({
    key: fc.constantFrom('k', 'l', 'absent'),
    operator: fc.constant(operator),
    value,
    negation: fc.boolean(),
  });
});
const cohortLeaf = fc.record({
  type: fc.constant('cohort'),
  key: fc.constant('id'),
  value: fc.constantFrom(1, 2),
  negation: fc.boolean(),
});
const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
  leaf: fc.oneof({ weight: 4, arbitrary: properties }, cohortLeaf),
  tree: fc.record({
    type: fc.constantFrom('AND', 'OR'),
    values: fc.array(fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('tree')), { maxLength: 3 }),
  }),
}));

/** Cohort 2 is made of cohort 1 and more. */
function readCohorts(): ReadonlyMap<number, CohortDefinition> {
  const define = (id: number, given: unknown): [number, CohortDefinition] => [
    id,
    {
      id,
      isStatic: false,
      filter: parseFilter(given, { defaultType: 'person', anyPattern: true }),
      properties: given,
    },
  ];
  return new Map([
    define(1, [{ key: 'k', operator: 'icontains', value: 'a' }]),
    define(2, {
      type: 'OR',
      values: [
        { type: 'cohort', key: 'id', value: 1, negation: true },
        { key: 'l', operator: 'is_set' },
      ],
    }),
  ]);
}

onEveryDatabase('a filter in memory and in SQL', (db) => {
  const cohorts = readCohorts();

  async function passInSql(filter: Filter, given: readonly string[]): Promise<boolean[]> {
    const subject = {
      projectId: 1,
      now: NOW,
      person: { id: sql`0`, properties: sql`p.properties` },
      cohorts,
    };
    const rows = await runSql<{ passes: boolean }>(
      db(),
      sql`select ${compileFilter(filter, subject)} as passes from unnest(${given}::text[]::jsonb[])
        with ordinality as p (properties, position) order by position`,
    );
    return rows.map(({ passes }) => passes);
  }

  function passInMemory(filter: Filter, given: readonly string[]): boolean[] {
    const matches = compileMatch<string>(filter, cohorts, {
      property: (property) => {
        const match = compileMatchProperty(property);
        return (text) => match(parseJsonObject(text), NOW);
      },
      member: () => () => false,
    });
    return given.map(matches);
  }

  test(`agree on ${RUNS * PERSONS_OF_RUN} generated cases`, { timeout: 120_000 }, async () => {
    const seen = { true: 0, false: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(properties, tree),
        fc.array(persons, { minLength: PERSONS_OF_RUN, maxLength: PERSONS_OF_RUN }),
        async (given, people) => {
          const filter = parseFilter(Array.isArray(given) ? given : [given], {
            defaultType: 'person',
            anyPattern: true,
          });
          const expected = await passInSql(filter, people);
          for (const passes of expected) seen[`${passes}`] += 1;
          expect(passInMemory(filter, people), stringifyJson(given)).toEqual(expected);
        },
      ),
      { numRuns: RUNS },
    );
    expect(Math.min(seen.true, seen.false)).toBeGreaterThan((RUNS * PERSONS_OF_RUN) / 10);
  });
});

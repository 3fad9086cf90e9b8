import { expect, it } from 'vitest';
import { stringifyJson } from '../../../../src/lib/json/stringify-json.ts';
import { createHideHashed } from '../../../../src/sources/declared/values/hide-hashed.ts';
import { jsonlOptions } from '../../../../src/sources/jsonl/index.ts';
import { createRandom } from '../../../support/seeded-random.ts';
import { countCases, TEST_SEED } from '../../../support/test-seed.ts';
import { createMapper } from '../../create-mapper.ts';

/*
 * A value that is to be kept back, somewhere in a record whose objects and lists may be text of JSON, whatever of that
 * the manifest declares: the record is a reject, or the value is nowhere in what is sent; and no plan shows it.
 */
const CASES = countCases(1_000, 20_000);
const SECRET = 'ann@example.com';
const KEY = 'a key of at least sixteen characters';
const NAMES = ['a', 'b', 'c', 'd'];

it(`keeps back what is hashed or excluded, in ${CASES} random records (seed ${TEST_SEED})`, () => {
  const random = createRandom(TEST_SEED);
  const isSo = (chance: number) => random() < chance;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T;
  const some = (of: readonly string[]) => of.filter(() => isSo(0.35));

  function wrap(path: readonly string[]): unknown {
    const [name, ...rest] = path;
    if (name === undefined) return SECRET;
    const fields = { ...(isSo(0.5) ? { other: 1 } : {}), [name]: wrap(rest) };
    let value: unknown = isSo(0.25) ? [{ other: 2 }, fields] : fields;
    for (let texts = pick([0, 0, 0, 1, 1, 2]); texts > 0; texts -= 1) value = JSON.stringify(value);
    return value;
  }

  const kinds = new Set<string>();
  for (let number = 0; number < CASES; number += 1) {
    const [top, ...rest] = [pick(NAMES), ...Array.from({ length: pick([1, 1, 2, 2, 3]) }, () => pick(NAMES))];
    const path = [top, ...rest].join('.');
    const above = [top, ...rest.slice(0, -1)].map((_, depth, names) => names.slice(0, depth + 1).join('.'));
    const spreadColumns = isSo(0.5) ? [pick(above)] : [];
    const fields = spreadColumns.flatMap((spread) => path.slice(spread.length + 1));
    const rule = pick([path, ...fields]);
    const outer = isSo(0.3) ? above.filter((one) => !spreadColumns.includes(one)).slice(0, 1) : [];
    const typed = [...above, ...fields.map((field) => field.slice(0, Math.max(1, field.lastIndexOf('.'))))];
    const mapping = {
      event: { constant: 'E' },
      distinctId: { column: 'u' },
      timestamp: { column: 't' },
      jsonColumns: some(above),
      spreadColumns,
      types: Object.fromEntries(some(typed.filter((one) => one !== rule)).map((one) => [one, 'json'])),
      ...(isSo(0.2) ? { unnest: { column: pick(above) } } : {}),
      ...(isSo(0.3) ? { person: { set: { columns: [top] } } } : {}),
      exclude: outer,
      ...(isSo(0.5) ? { hash: { columns: [rule], key: '${KEY}' } } : { exclude: [rule, ...outer] }),
    };
    const record = { u: 'ann', t: '2023-05-01T00:00:00Z', [top]: wrap(rest) };
    const outcome = createMapper('jsonl', { mapping }, { hashKey: KEY, version: pick([3, 4, 5]) })(record);
    kinds.add(outcome.kind);
    const seen = stringifyJson({ mapping, record });
    const { detail: _, ...rejected } = { detail: '', ...outcome };
    expect(stringifyJson('hash' in mapping ? outcome : rejected), seen).not.toContain(SECRET);
    const shown = createHideHashed(jsonlOptions.parse({ mapping }).mapping)?.(record);
    if (shown) expect(stringifyJson(shown), seen).not.toContain(SECRET);
  }
  expect([...kinds].sort()).toEqual(expect.arrayContaining(['mapped', 'rejected']));
});

import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../../src/lib/json/parse-json.ts';
import { compileMatchGiven } from '../../../../src/server/flags/evaluate/match-given.ts';
import { parseFilter } from '../../../../src/server/query/parse-filter.ts';
import { NOW } from '../flag-lab.ts';

function passes(operator: string, value: unknown, given: unknown): boolean {
  const [filter] = parseFilter([{ key: 'k', operator, value }], {
    defaultType: 'person',
    anyPattern: true,
  }).members;
  if (filter?.kind !== 'property') throw new Error('not a filter of a property');
  return compileMatchGiven(filter)(given, NOW);
}

describe('a property of a request', () => {
  test.each<[operator: string, value: unknown, passing: unknown[], others: unknown[]]>([
    ['exact', 'Value', ['value', 'VALUE'], ['valu', '', null, true]],
    ['exact', ['a', 'B'], ['A', 'b'], ['c', 'ab']],
    ['exact', '1', ['1', 1], [1.5, 'one', true]],
    ['exact', true, [true, 'true', 'True', 'TRUE'], [false, 1, 'yes', null]],
    ['exact', 'True', [true, 'true'], [false, 'truthy']],
    ['exact', ['false'], [false, 'False'], [true, null, 0]],
    ['exact', 'none', [null], ['', false]],
    [
      'exact',
      '1234567890123456789',
      ['1234567890123456789', parseJson('1234567890123456789')],
      [parseJson('1234567890123456788')],
    ],
    ['is_not', 'a', ['b', null, 1], ['a', 'A']],
    ['is_set', 'is_set', ['', null, false, 0], []],
    ['is_not_set', 'is_not_set', [], ['', null, false, 0]],
    ['icontains', 'AL', ['value', 'VALUE', 'al'], ['vlue', null, 7]],
    ['icontains', '4', [1425, '0.4'], [15, null]],
    ['not_icontains', 'al', ['vlue', null], ['value']],
    ['regex', '^a.c$', ['abc', 'a\nc'], ['ABC', 'xabc', null]],
    ['regex', '\\d', ['a1', 7], ['a', null]],
    ['regex', '(', [], ['(', 'a', null]],
    ['not_regex', '(', [], ['(', 'a', null]],
    ['not_regex', 'a', ['b', null], ['a']],
    ['gt', 30, [31, 30.5, '4', '31'], [30, -5, '100', '29']],
    ['gt', '30', [31, '4', '31'], [30, '100']],
    ['lt', '30', [29, -1, '100', '2'], [30, '4']],
    ['gte', 'b', ['b', 'c'], ['a', 'B', 1]],
    ['lte', 1, [1, 0, parseJson('0.99999999999999999999')], [2, 'a']],
    ['between', [1, 10], [1, 10, 5], [0, 11]],
    ['starts_with', 'Ab', ['Abc'], ['abc', 'xAb', null]],
    ['ends_with', 'c', ['abc'], ['abC', 'ca']],
    [
      'is_date_before',
      '2024-03-01',
      ['2024-02-29', '2024-02-29T23:59:59Z', '2024-03-01T00:30:00+01:00'],
      ['2024-03-01', 'soon', 5, null],
    ],
    ['is_date_after', '2024-03-01', ['2024-03-01T00:00:01', '2024-03-02'], ['2024-03-01', 'soon']],
    ['is_date_after', '-7d', ['2024-03-03T12:00:01Z'], ['2024-03-03T12:00:00Z', 'later']],
    ['is_relative_date_before', '24h', ['2024-03-09T11:59:59Z'], ['2024-03-09T12:00:00Z']],
    ['semver_eq', '1.2.3', ['1.2.3', 'v1.2.3', '1.2.3-beta'], ['1.2.4', '1.2', 'x', null]],
    ['semver_neq', '1.2.3', ['1.2.4', 'x'], ['1.2.3']],
    ['semver_gt', '1.9.0', ['1.10.0', '2'], ['1.9.0', '1.8.99']],
    ['semver_gte', '1.10', ['1.10.0', '1.11'], ['1.9.9']],
    ['semver_lt', '2.0.0', ['1.99.99'], ['2.0.0', '10.0.0']],
    ['semver_lte', '2.0.0', ['2.0.0', '2.0', 1], ['2.0.1']],
    ['semver_tilde', '1.2.3', ['1.2.3', '1.2.99'], ['1.2.2', '1.3.0']],
    ['semver_caret', '1.2.3', ['1.2.3', '1.99.0'], ['1.2.2', '2.0.0']],
    ['semver_caret', '0.2.3', ['0.2.3', '0.2.99'], ['0.3.0', '1.0.0']],
    ['semver_caret', '0.0.3', ['0.0.3'], ['0.0.4']],
    ['semver_wildcard', '1.2.*', ['1.2.0', '1.2.99'], ['1.3.0', '1.1.9']],
    ['semver_wildcard', '1.*', ['1.0.0', '1.99'], ['2.0.0']],
    ['semver_eq', 'soon', [], ['1.2.3', 'soon']],
    ['is_date_after', 'soon', [], ['2030-01-01', 'soon']],
  ])('%s %j is passed by %j and not by %j', (operator, value, passing, others) => {
    for (const given of passing) expect(passes(operator, value, given), String(given)).toBe(true);
    for (const given of others) expect(passes(operator, value, given), String(given)).toBe(false);
  });
});

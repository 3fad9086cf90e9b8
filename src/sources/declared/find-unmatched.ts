import { suggest } from '../../lib/suggest.ts';
import { asFields, type Fields } from '../mapping/table.ts';
import { createReadColumn } from './declared-columns.ts';
import { isReached } from './name-rules.ts';
import type { DeclaredMapping } from './options.ts';
import { createReadCell } from './sort-columns.ts';

/**
 * The names under `exclude`, `rename` and the rules for values that none of these records has, each as a sentence.
 * A name that is spelt wrong would exclude or hash nothing, and say nothing.
 */
export function findUnmatched(mapping: DeclaredMapping, records: readonly Fields[]): string[] {
  if (records.length === 0) return [];
  const named = [
    ...mapping.exclude.map((path) => ({ setting: 'exclude', path })),
    ...Object.keys(mapping.rename).map((path) => ({ setting: 'rename', path })),
    ...(mapping.hash?.columns ?? []).map((path) => ({ setting: 'hash', path })),
    ...Object.keys(mapping.values ?? {}).map((path) => ({ setting: 'values', path })),
    ...Object.keys(mapping.types ?? {}).map((path) => ({ setting: 'types', path })),
    ...(mapping.unnest ? [{ setting: 'unnest', path: mapping.unnest.column }] : []),
  ];
  const waiting = new Set(named);
  const names = new Set<string>();
  const listPlaces = createListPlaces(mapping);
  for (const record of records) {
    for (const [index, place] of listPlaces(record).entries()) {
      for (const name of Object.keys(place)) if (names.size < NAMES_KEPT) names.add(name);
      for (const each of waiting) {
        // What is spread is a field of its object as long as lists become records.
        if (each.setting === 'unnest' && index > 0) continue;
        if (isReached(each.path, place)) waiting.delete(each);
      }
    }
  }
  return [...waiting].map(({ setting, path }) => {
    const near = suggest(path, [...names]);
    const hint =
      near !== undefined
        ? `did you mean "${near}"?`
        : path.includes('.')
          ? 'a path leads into objects, and into text only where the column is listed under jsonColumns'
          : 'check its spelling';
    return `mapping.${setting} names "${path}", which no sampled record has; ${hint}`;
  });
}

const NAMES_KEPT = 1_000;

/** The objects of a record whose fields the rules name: first the record itself, then what is spread. */
function createListPlaces(mapping: DeclaredMapping): (record: Fields) => Fields[] {
  const readCell = createReadCell(mapping);
  const noNulls = new Set<string>();
  const spreads = mapping.spreadColumns.map((name) => ({ name, read: createReadColumn(name, noNulls) }));
  return (record) => {
    const columns = Object.entries(record).map(
      ([column, value]) => [column, readCell(column, value)] as const,
    );
    const readable = Object.fromEntries(columns);
    const spread = spreads.flatMap(({ name, read }): Fields[] => {
      const fields = asFields(readCell(name, read(readable)));
      return fields ? [fields] : [];
    });
    return [readable, ...spread];
  };
}

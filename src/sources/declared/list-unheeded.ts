import { listUnheededPlaces } from '../common-options.ts';
import type { Fields } from '../mapping/table.ts';
import type { WithGeoip } from '../source.ts';
import type { DeclaredMapping, DeclaredOptions } from './options.ts';
import { listKeysIntoTexts } from './values/json-texts.ts';
import { createFindMissed, type FindMissed } from './values/undeclared-text.ts';

/** Rules that came with version 3: earlier ones read none of them. */
const SINCE_3 = ['hash', 'values', 'types', 'unnest'] as const;

export function listUnheeded(options: DeclaredOptions & WithGeoip, version: number): string[] {
  const { mapping } = options;
  const rules = SINCE_3.filter((rule) => version < 3 && mapping[rule] !== undefined);
  const exclude = version < 2 && !leavesOutColumnsAlone(mapping) ? ['mapping.exclude'] : [];
  // Version 4 was the first to follow paths into the text of a column.
  const intoTexts =
    version < 4 ? listKeysIntoTexts(mapping).filter((key) => !rules.some((rule) => rule === key)) : [];
  return [
    ...[...rules, ...intoTexts].map((key) => `mapping.${key}`),
    ...exclude,
    ...listUnheededPlaces(options, version),
  ];
}

/** Version 2 sends text that nothing says to read, with what `exclude` names in it; later ones reject its record. */
export function toFindSent({ mapping }: DeclaredOptions, version: number) {
  const find: FindMissed | undefined = version === 2 ? createFindMissed(mapping, [])?.ofExclude : undefined;
  return find && ((record: Fields): string | undefined => find(record)?.path);
}

/** Version 1 leaves out whole columns, and neither what is nested in one nor what is spread. */
const leavesOutColumnsAlone = ({ exclude, spreadColumns }: DeclaredMapping): boolean =>
  exclude.length === 0 || (spreadColumns.length === 0 && exclude.every((path) => !path.includes('.')));

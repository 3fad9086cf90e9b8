import { listUnheededPlaces } from '../common-options.ts';
import type { WithGeoip } from '../source.ts';
import type { DeclaredMapping, DeclaredOptions } from './options.ts';
import { listKeysIntoTexts } from './values/json-texts.ts';

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

/** Version 1 leaves out whole columns, and neither what is nested in one nor what is spread. */
const leavesOutColumnsAlone = ({ exclude, spreadColumns }: DeclaredMapping): boolean =>
  exclude.length === 0 || (spreadColumns.length === 0 && exclude.every((path) => !path.includes('.')));

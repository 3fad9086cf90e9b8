import { SOURCE_TYPES, type SourceTypes } from './registry.ts';

/** The table of sources in the README. */
export function renderSourcesTable(types: SourceTypes = SOURCE_TYPES): string {
  const rows = types.map(({ type, docs }) => `| \`${type}\` | ${docs.reads} | ${docs.notes} |`);
  return ['| type | reads | notes |', '|---|---|---|', ...rows].join('\n');
}

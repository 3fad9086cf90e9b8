import type { InsightKind } from '../insight-kind.ts';
import { wholeRange } from '../intervals.ts';
import type { PathsData, PathsQuery } from './model.ts';
import { parsePaths } from './parse.ts';
import { renderPaths } from './render.ts';
import { loadPaths } from './store.ts';

/** What followed what in a session. */
export const paths: InsightKind<'PATHS', PathsQuery, PathsData> = {
  name: 'PATHS',
  source: { kind: 'PathsQuery', filterKey: 'pathsFilter' },
  parse: parsePaths,
  listEntities: () => [],
  getInterval: () => 'day',
  compute: async (tx, steps, scope, query, range) => ({
    insight: 'PATHS',
    result: await loadPaths(tx, steps, scope, wholeRange(range), query),
  }),
  isEmpty: ({ result }) => result.length === 0,
  render: ({ result }) => renderPaths(result),
};

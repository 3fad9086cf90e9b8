import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../src/server/http/json.ts';
import { InsightError } from '../../../src/server/insights/insight-error.ts';
import { readInsight } from '../../../src/server/insights/read-insight.ts';

const anything = fc.jsonValue({ maxDepth: 3 });
const KEYS =
  `insight events actions properties interval date_from date_to explicit_date breakdown breakdown_type
  breakdowns breakdown_limit display compare formula funnel_window_interval funnel_window_interval_unit
  funnel_order_type funnel_viz_type funnel_from_step funnel_to_step bin_count exclusions target_entity returning_entity period total_intervals
  retention_type include_event_types start_point end_point step_limit path_groupings`.split(/\s+/);
const insight = fc.constantFrom('TRENDS', 'FUNNELS', 'RETENTION', 'LIFECYCLE', 'STICKINESS', 'PATHS');
const source = fc.constantFrom(
  'TrendsQuery',
  'FunnelsQuery',
  'RetentionQuery',
  'PathsQuery',
  'StickinessQuery',
);

/** Objects whose keys mean something, and whose values are anything. */
const filters = fc
  .tuple(insight, fc.dictionary(fc.constantFrom(...KEYS), anything))
  .map(([kind, fields]): JsonObject => ({ insight: kind, events: [{ id: 'a' }, { id: 'b' }], ...fields }));

const query = fc.option(
  fc
    .tuple(
      source,
      fc.dictionary(
        fc.constantFrom('series', 'dateRange', 'interval', 'funnelsFilter', 'pathsFilter'),
        anything,
      ),
    )
    .map(([kind, fields]): JsonObject => ({ kind: 'InsightVizNode', source: { kind, ...fields } })),
);

it('reads whatever clients write, or says why it cannot', () => {
  let read = 0;
  fc.assert(
    fc.property(filters, query, anything, (own, node, dashboard) => {
      try {
        const result = readInsight({ filters: own, query: node }, isJsonObject(dashboard) ? dashboard : {});
        expect(result.insight).toMatch(/^[A-Z]+$/);
        read += 1;
      } catch (error) {
        if (!(error instanceof InsightError)) throw error;
        expect(error.message).not.toMatch(/"undefined"|\[object/);
      }
    }),
    { numRuns: 2000 },
  );
  expect(read).toBeGreaterThan(50);
});

import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { type Entity, isSameEntity } from '../entity.ts';
import { invalid, naming, unsupported } from '../insight-error.ts';
import type { CommonQuery } from '../insight-kind.ts';
import { entityDocument, readEntity, readSeries } from '../parse/entities.ts';
import {
  count,
  given,
  integer,
  oneOf,
  parseList,
  readBreakdown,
  readFields,
  readInterval,
  words,
} from '../parse/fields.ts';
import {
  FUNNEL_ORDERS,
  FUNNEL_VIEWS,
  type FunnelExclusion,
  type FunnelQuery,
  type FunnelWindow,
  WINDOW_UNITS,
} from './model.ts';

const MAX_STEPS = 20;
const MAX_BINS = 90;
const DEFAULT_WINDOW = 14;
const SECONDS = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800, month: 2_678_400 } as const;
/** A hundred years: longer than any history. */
const MAX_WINDOW_SECONDS = 100 * 366 * 86_400;

const funnelFields = z.object({
  funnel_order_type: oneOf(FUNNEL_ORDERS),
  funnel_viz_type: oneOf(FUNNEL_VIEWS),
  funnel_from_step: count(0, MAX_STEPS),
  funnel_to_step: count(0, MAX_STEPS),
  bin_count: count(1, MAX_BINS),
  funnel_window_interval: count(1, MAX_WINDOW_SECONDS),
  funnel_window_interval_unit: oneOf(WINDOW_UNITS),
  funnel_window_days: count(1, MAX_WINDOW_SECONDS),
  funnel_aggregate_by_hogql: given(words),
  breakdown_attribution_type: given(words),
  exclusions: parseList(entityDocument, MAX_STEPS),
});

const exclusionFields = z.object({ funnel_from_step: integer, funnel_to_step: integer });

export function parseFunnel(filters: JsonObject, common: CommonQuery): FunnelQuery {
  const fields = readFields(funnelFields, filters);
  if (fields.funnel_aggregate_by_hogql !== undefined)
    throw unsupported('Funnels count persons only.', 'funnel_aggregate_by_hogql');
  const steps = readSeries(filters);
  if (steps.length < 2) throw invalid('A funnel needs two steps at least.', 'events');
  if (steps.length > MAX_STEPS) throw invalid(`A funnel may have ${MAX_STEPS} steps at most.`, 'events');
  const order = fields.funnel_order_type ?? 'ordered';
  const exclusions = (fields.exclusions ?? []).map((item) =>
    naming('exclusions', () => readExclusion(item, steps.length)),
  );
  if (exclusions.length > 0 && order !== 'ordered') {
    throw unsupported('Exclusions are supported in funnels of ordered steps only.', 'exclusions');
  }
  if (order === 'unordered' && hasRepeats(steps)) {
    throw unsupported('A funnel without an order may have each step once.', 'events');
  }
  const shown = fields.funnel_viz_type ?? 'steps';
  const breakdown = readBreakdown(filters);
  if (shown === 'time_to_convert' && breakdown !== undefined) {
    throw unsupported('Times to convert are shown of all persons, without a breakdown.', 'breakdown');
  }
  return {
    insight: 'FUNNELS',
    ...common,
    steps,
    order,
    window: readWindow(fields),
    exclusions,
    breakdown,
    attribution: readAttribution(fields.breakdown_attribution_type),
    shown,
    interval: readInterval(filters),
    span: shown === 'steps' ? { from: 0, to: steps.length - 1 } : readSpan(fields, steps.length),
    binCount: fields.bin_count,
  };
}

const hasRepeats = (steps: readonly Entity[]): boolean =>
  steps.some((step, index) => steps.slice(0, index).some((earlier) => isSameEntity(earlier, step)));

function readWindow(fields: z.infer<typeof funnelFields>): FunnelWindow {
  const { funnel_window_interval: length, funnel_window_interval_unit: unit = 'day' } = fields;
  const window = { count: length ?? fields.funnel_window_days ?? DEFAULT_WINDOW, unit };
  if (window.count * SECONDS[unit] <= MAX_WINDOW_SECONDS) return window;
  throw invalid(
    'funnel_window_interval: the window of a funnel may be a hundred years long.',
    'funnel_window_interval',
  );
}

function readExclusion(document: unknown, stepCount: number): FunnelExclusion {
  const { funnel_from_step: from, funnel_to_step: to } = readFields(exclusionFields, document);
  if (from < 0 || to <= from || to >= stepCount) {
    throw invalid('An exclusion must lie between a step of the funnel and a later one.');
  }
  return { ...readEntity(document, 'exclusions'), from, to };
}

function readSpan(
  { funnel_from_step: from = 0, funnel_to_step: to }: z.infer<typeof funnelFields>,
  stepCount: number,
): FunnelQuery['span'] {
  const last = stepCount - 1;
  const span = { from, to: to ?? last };
  if (span.from < span.to && span.to <= last) return span;
  const attr = from >= last ? 'funnel_from_step' : 'funnel_to_step';
  throw invalid(`${attr}: The steps must be from 0 to ${last}, the first before the last.`, attr);
}

function readAttribution(type = 'first_touch'): FunnelQuery['attribution'] {
  if (type === 'first_touch' || type === 'last_touch') return type;
  throw unsupported(
    'A breakdown of a funnel goes by the first or the last step that has a value.',
    'breakdown_attribution_type',
  );
}

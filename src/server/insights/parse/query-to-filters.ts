import { isJsonObject, type JsonObject } from '../../http/json.ts';
import { invalid, unsupported } from '../insight-error.ts';

/**
 * Newer clients write a `query` instead of `filters`: a node that shows a source query. It says the same in
 * other words, which become those of `filters` here; parse-insight-filters.ts then reads both.
 */
export function queryToFilters(query: JsonObject): JsonObject {
  const source = query['kind'] === 'InsightVizNode' ? query['source'] : query;
  if (!isJsonObject(source)) throw invalid('The query has no source.');
  const insight = INSIGHTS.get(kindOf(source));
  if (insight === undefined) throw unsupported(`Queries of kind "${kindOf(source)}" are not supported.`);
  const dates = objectAt(source, 'dateRange');
  const own = objectAt(source, insight.filterKey);
  return {
    insight: insight.name,
    date_from: dates['date_from'],
    date_to: dates['date_to'],
    explicit_date: dates['explicitDate'],
    interval: source['interval'],
    properties: source['properties'],
    filter_test_accounts: source['filterTestAccounts'],
    aggregation_group_type_index: source['aggregation_group_type_index'],
    ...seriesOf(source['series']),
    ...objectAt(source, 'breakdownFilter'),
    ...compareOf(objectAt(source, 'compareFilter')),
    ...insight.rename(withSnakeKeys(own)),
  };
}

/** Empty where there is none; never long, as people read it. */
const kindOf = ({ kind }: JsonObject): string => (typeof kind === 'string' ? kind.slice(0, 40) : '');

interface InsightKind {
  readonly name: string;
  /** Where the source keeps what is its kind's alone. */
  readonly filterKey: string;
  readonly rename: (own: JsonObject) => JsonObject;
}

const asIs = (own: JsonObject) => own;

const INSIGHTS: ReadonlyMap<string, InsightKind> = new Map([
  ['TrendsQuery', { name: 'TRENDS', filterKey: 'trendsFilter', rename: renameTrends }],
  ['FunnelsQuery', { name: 'FUNNELS', filterKey: 'funnelsFilter', rename: renameFunnel }],
  ['RetentionQuery', { name: 'RETENTION', filterKey: 'retentionFilter', rename: asIs }],
  ['LifecycleQuery', { name: 'LIFECYCLE', filterKey: 'lifecycleFilter', rename: asIs }],
  ['StickinessQuery', { name: 'STICKINESS', filterKey: 'stickinessFilter', rename: renameStickiness }],
  ['PathsQuery', { name: 'PATHS', filterKey: 'pathsFilter', rename: asIs }],
]);

function renameTrends({ formulas, formula_nodes: nodes, ...own }: JsonObject): JsonObject {
  const formula = [formulas, nodes].some((list) => Array.isArray(list) && list.length > 0);
  return formula ? { ...own, formula: 'formulas' } : own;
}

function renameFunnel({ exclusions, ...own }: JsonObject): JsonObject {
  if (!Array.isArray(exclusions)) return own;
  return {
    ...own,
    exclusions: exclusions
      .filter(isJsonObject)
      .map((node) => ({ ...withSnakeKeys(node), ...entityOf(node) })),
  };
}

function renameStickiness({
  stickiness_criteria: criteria,
  computed_as: computedAs,
  ...own
}: JsonObject): JsonObject {
  if (criteria !== undefined && criteria !== null) {
    throw unsupported('Stickiness counts every interval with one event or more.');
  }
  if (computedAs === 'cumulative') throw unsupported('Cumulative stickiness is not supported.');
  return own;
}

function seriesOf(series: unknown): JsonObject {
  if (!Array.isArray(series)) return {};
  const nodes = series
    .filter(isJsonObject)
    .map((node, order) => ({ node, entity: { ...entityOf(node), order } }));
  const of = (kind: string) => nodes.filter(({ node }) => node['kind'] === kind).map(({ entity }) => entity);
  const other = nodes.find(({ node }) => !ENTITY_KINDS.has(kindOf(node)));
  if (other !== undefined) {
    throw unsupported(`Series of kind "${kindOf(other.node)}" are not supported.`);
  }
  return { events: of('EventsNode'), actions: of('ActionsNode'), data_warehouse: of('DataWarehouseNode') };
}

const ENTITY_KINDS: ReadonlySet<string> = new Set(['EventsNode', 'ActionsNode', 'DataWarehouseNode']);

function entityOf(node: JsonObject): JsonObject {
  const isAction = node['kind'] === 'ActionsNode';
  return {
    id: isAction ? node['id'] : node['event'],
    type: isAction ? 'actions' : 'events',
    name: node['name'],
    custom_name: node['custom_name'],
    math: node['math'],
    math_property: node['math_property'],
    math_property_type: node['math_property_type'],
    properties: propertiesOf(node),
  };
}

/** The node's own, and those that whoever made the insight fixed. */
function propertiesOf(node: JsonObject): unknown {
  const { properties, fixedProperties } = node;
  if (!Array.isArray(fixedProperties) || fixedProperties.length === 0) return properties;
  return [...(Array.isArray(properties) ? properties : []), ...fixedProperties];
}

function compareOf({ compare, compare_to }: JsonObject): JsonObject {
  return compare === undefined ? {} : { compare, compare_to };
}

function objectAt(source: JsonObject, key: string): JsonObject {
  const value = source[key];
  return isJsonObject(value) ? value : {};
}

/** `funnelWindowInterval` → `funnel_window_interval`: earlier versions of the query wrote the latter, too. */
const withSnakeKeys = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

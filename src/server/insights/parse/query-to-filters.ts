import { isJsonObject, type JsonObject } from '../../http/json.ts';
import { invalid, unsupported } from '../insight-error.ts';
import { findKindOfSource } from '../registry.ts';
import { toEntityFields, toSnakeKeys } from './query-nodes.ts';

/**
 * Newer clients write a `query` instead of `filters`: a node that shows a source query. Converts its fields
 * to those of `filters`, so that one parser reads both.
 */
export function queryToFilters(query: JsonObject): JsonObject {
  const source = query['kind'] === 'InsightVizNode' ? query['source'] : query;
  if (!isJsonObject(source)) throw invalid('The query has no source.');
  const kind = findKindOfSource(getKindName(source));
  if (kind === undefined) throw unsupported(`Queries of kind "${getKindName(source)}" are not supported.`);
  const { filterKey, toFilters = (own: JsonObject) => own } = kind.source;
  const dates = getObject(source, 'dateRange');
  return {
    insight: kind.name,
    date_from: dates['date_from'],
    date_to: dates['date_to'],
    explicit_date: dates['explicitDate'],
    interval: source['interval'],
    properties: source['properties'],
    filter_test_accounts: source['filterTestAccounts'],
    sampling_factor: source['samplingFactor'],
    aggregation_group_type_index: source['aggregation_group_type_index'],
    ...convertSeries(source['series']),
    ...getObject(source, 'breakdownFilter'),
    ...convertComparison(getObject(source, 'compareFilter')),
    ...toFilters(toSnakeKeys(getObject(source, filterKey))),
  };
}

/** Empty where there is none; cut, as it is part of messages. */
const getKindName = ({ kind }: JsonObject): string => (typeof kind === 'string' ? kind.slice(0, 40) : '');

function convertSeries(series: unknown): JsonObject {
  if (!Array.isArray(series)) return {};
  const nodes = series
    .filter(isJsonObject)
    .map((node, order) => ({ node, entity: { ...toEntityFields(node), order } }));
  const other = nodes.find(({ node }) => !ENTITY_KINDS.has(getKindName(node)));
  if (other !== undefined) {
    throw unsupported(`Series of kind "${getKindName(other.node)}" are not supported.`);
  }
  const pick = (kind: string) =>
    nodes.filter(({ node }) => node['kind'] === kind).map(({ entity }) => entity);
  return {
    events: pick('EventsNode'),
    actions: pick('ActionsNode'),
    data_warehouse: pick('DataWarehouseNode'),
  };
}

const ENTITY_KINDS: ReadonlySet<string> = new Set(['EventsNode', 'ActionsNode', 'DataWarehouseNode']);

function convertComparison({ compare, compare_to }: JsonObject): JsonObject {
  return compare === undefined ? {} : { compare, compare_to };
}

function getObject(source: JsonObject, key: string): JsonObject {
  const value = source[key];
  return isJsonObject(value) ? value : {};
}

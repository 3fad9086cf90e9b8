import type { JsonObject } from '../../http/json.ts';

/** A node of a newer query (`EventsNode`, `ActionsNode`) as an entity of the filters. */
export function toEntityFields(node: JsonObject): JsonObject {
  const isAction = node['kind'] === 'ActionsNode';
  return {
    id: isAction ? node['id'] : node['event'],
    type: isAction ? 'actions' : 'events',
    name: node['name'],
    custom_name: node['custom_name'],
    math: node['math'],
    math_property: node['math_property'],
    math_property_type: node['math_property_type'],
    properties: mergeProperties(node),
  };
}

/** The node's own, and those that the maker of the insight fixed. */
function mergeProperties({ properties, fixedProperties }: JsonObject): unknown {
  if (!Array.isArray(fixedProperties) || fixedProperties.length === 0) return properties;
  return [...(Array.isArray(properties) ? properties : []), ...fixedProperties];
}

/** `funnelWindowInterval` → `funnel_window_interval`: earlier versions of the query wrote the latter, too. */
export const toSnakeKeys = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

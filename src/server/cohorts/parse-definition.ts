import { invalidInput } from '../http/errors.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import type { FilterGroup } from '../query/filter.ts';
import { parseFilter } from '../query/parse-filter.ts';

/** What makes a member, as it is stored and shown, and as filters read it. */
export interface ParsedDefinition {
  readonly groups: readonly JsonObject[];
  readonly filters: JsonObject;
  readonly filter: FilterGroup;
}

interface GivenDefinition {
  readonly filters?: JsonObject | undefined;
  readonly groups?: readonly JsonObject[] | undefined;
}

/** Reads the definition of a dynamic cohort strictly: nothing of it is ignored. */
export function parseDefinition({ filters, groups = [] }: GivenDefinition): ParsedDefinition {
  const properties = isEmpty(filters) ? convertGroups(groups) : getProperties(filters);
  const attr = isEmpty(filters) && groups.length > 0 ? 'groups' : 'filters';
  const filter = parseFilter(properties, { defaultType: 'person', attr, strict: true });
  if (filter.members.length === 0) {
    throw invalidInput('A cohort takes at least one condition in filters.properties, or is static.', attr);
  }
  return { groups: isEmpty(filters) ? groups : [], filters: { properties }, filter };
}

/** A static cohort has members and no definition; an empty one may be sent. */
export function refuseDefinition({ filters, groups = [] }: GivenDefinition): void {
  const isGiven =
    !isEmpty(filters) && parseFilter(getProperties(filters), { defaultType: 'person' }).members.length > 0;
  if (isGiven || groups.length > 0) {
    throw invalidInput('A static cohort has members, not filters.', isGiven ? 'filters' : 'groups');
  }
}

const isEmpty = (filters: JsonObject | undefined): filters is undefined =>
  filters === undefined || Object.keys(filters).length === 0;

function getProperties(filters: JsonObject): unknown {
  const { properties } = filters;
  if (isJsonObject(properties) && Array.isArray(properties['values'])) return properties;
  throw invalidInput('Must contain a "properties" key with type and values.', 'filters');
}

/** One of the groups holds, and all that it lists. */
function convertGroups(groups: readonly JsonObject[]): unknown {
  const values = groups.map(({ properties, ...rest }) => {
    const others = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
    if (Array.isArray(properties) && others.every(([name]) => IGNORED_GROUP_FIELDS.has(name))) {
      return { type: 'AND', values: properties };
    }
    throw invalidInput('A group takes a list of properties; use filters for everything else.', 'groups');
  });
  return { type: 'OR', values };
}

/** Members of a group that mean nothing here. */
const IGNORED_GROUP_FIELDS: ReadonlySet<string> = new Set(['id', 'name', 'matchType']);

import { parseJson } from '../../lib/json/parse-json.ts';
import { isJsonObject, type JsonObject, toText } from '../http/json.ts';
import type { PersonBody } from './schema.ts';
import type { StoredPerson } from './store.ts';

/** The shape that libraries give to ids of visitors without an account: five groups joined by dashes. */
const ANONYMOUS_ID = /^([a-z0-9]+-){4}([a-z0-9]+)$/;

const NAME_PROPERTIES = ['email', 'Email', 'name', 'Name', 'username', 'Username', 'UserName'];

export function renderPerson(person: StoredPerson): PersonBody {
  const value = parseJson(person.properties);
  const properties = isJsonObject(value) ? value : {};
  const distinctIds = orderIds(person.distinctIds);
  return {
    id: person.id,
    name: pickName(properties, distinctIds) ?? String(person.id),
    distinct_ids: distinctIds,
    properties,
    created_at: person.createdAt,
    uuid: person.uuid,
  };
}

/** Anonymous ids last, otherwise in the order they were seen. */
export function orderIds(distinctIds: readonly string[]): string[] {
  const anonymous = (id: string) => (ANONYMOUS_ID.test(id) ? 1 : 0);
  return [...distinctIds].sort((a, b) => anonymous(a) - anonymous(b));
}

const isEmptyContainer = (value: unknown): boolean =>
  (isJsonObject(value) || Array.isArray(value)) && Object.keys(value).length === 0;

/** The first property that is not null, false, 0 or empty. */
function pickName(properties: JsonObject, orderedIds: readonly string[]): string | undefined {
  for (const key of NAME_PROPERTIES) {
    const value = properties[key];
    if (value && !isEmptyContainer(value)) return toText(value);
  }
  return orderedIds[0];
}

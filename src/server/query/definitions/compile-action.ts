import { allOf, anyOf, type Sql, sql } from '../../database/sql.ts';
import type { FilterGroup, PropertyFilter } from '../filter.ts';
import { type ActionDefinition, type ActionStep, namesOf } from './action-definition.ts';

/** Of an event: its name as text, and its properties as jsonb. */
export interface EventColumns {
  readonly name: Sql;
  readonly properties: Sql;
}

/**
 * Whether an event is one of an action's. Where all steps have names these are a condition of their own, which
 * Postgres looks up in the index. `compile` gives the condition of a step's filter.
 */
export function compileAction(
  action: ActionDefinition,
  event: EventColumns,
  compile: (filter: FilterGroup) => Sql,
): Sql {
  const names = namesOf(action);
  const byName = names === undefined ? [] : [sql`${event.name} = any(${names}::text[])`];
  const asksMore = action.steps.some(({ url, filter }) => url !== undefined || filter.members.length > 0);
  if (names !== undefined && !asksMore) return allOf(byName);
  const steps = action.steps.map((step) =>
    allOf([
      ...(step.event === null ? [] : [sql`${event.name} = ${step.event}::text`]),
      ...matchUrl(step, event, compile),
      compile(step.filter),
    ]),
  );
  return allOf([...byName, anyOf(steps)]);
}

function matchUrl({ url }: ActionStep, event: EventColumns, compile: (filter: FilterGroup) => Sql): Sql[] {
  if (url === undefined) return [];
  if (url.matching === 'contains') {
    // A backslash is one, as it is no escape in an address.
    const pattern = `%${url.text.replaceAll('\\', '\\\\')}%`;
    return [sql`coalesce(${event.properties} ->> '$current_url' like ${pattern}::text, false)`];
  }
  const condition: PropertyFilter = {
    kind: 'property',
    owner: 'event',
    key: '$current_url',
    operator: url.matching,
    values: [url.text],
    negated: false,
  };
  return [compile({ kind: 'group', operator: 'and', members: [condition] })];
}

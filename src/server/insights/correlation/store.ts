import { type Sql, sql } from '../../database/sql.ts';
import { compileFilter } from '../../query/compile-filter.ts';
import type { FilterGroup } from '../../query/filter.ts';
import type { Entity } from '../entity.ts';
import { ACTOR, type EventScope, eventsWhere, matchEntity, type Span } from '../events-store.ts';
import { funnelFacts, matchedEvents, toInterval } from '../funnel/facts.ts';
import type { FunnelQuery } from '../funnel/model.ts';
import type { Steps } from '../steps.ts';

/** Some of those who entered a funnel. */
export interface CorrelatedPart {
  readonly query: FunnelQuery;
  /** Whether they reached the last step; undefined: all. */
  readonly converted: boolean | undefined;
  /** They did this after the first step, before the last one or the end of the window. */
  readonly entity?: Entity;
  /** They are like this now. */
  readonly property?: FilterGroup;
}

/** The persons of that part. */
export async function findCorrelated(
  steps: Steps,
  scope: EventScope,
  span: Span,
  { query, converted, entity, property }: CorrelatedPart,
): Promise<Sql> {
  const last = query.steps.length;
  const wanted =
    converted === undefined
      ? sql`true`
      : converted
        ? sql`steps = ${last}::integer`
        : sql`steps < ${last}::integer`;
  const matched = await steps.collect(scope, (within) => matchedEvents(within, span, query));
  if (entity === undefined) {
    const facts = await steps.derive([matched], (of) => funnelFacts(scope, of(matched), query));
    const like = property === undefined ? sql`true` : isLike(scope, property);
    return sql`(select facts.actor from ${facts} as facts
      left join persons p on p.id = case when facts.actor ~ '^[0-9]' then facts.actor::integer end
      where ${wanted} and ${like})`;
  }
  const others = await steps.collect(scope, (within) => otherEvents(within, span, query, entity));
  return steps.derive(
    [matched, others],
    (of) => sql`with facts as (${funnelFacts(scope, of(matched), query)})
      select distinct facts.actor from facts join ${of(others)} as others on others.actor = facts.actor
      where ${wanted} and others.at > facts.at[1]
        and others.at < case when steps = ${last}::integer then facts.at[${last}::integer]
          else facts.at[1] + ${toInterval(query.window)} end`,
  );
}

/** Events of that kind; those that the steps are about do not count. */
function otherEvents(scope: EventScope, span: Span, { steps }: FunnelQuery, entity: Entity): Sql {
  const names = steps.flatMap(({ event }) => (event === null ? [] : [event]));
  return sql`select ${ACTOR} as actor, e.timestamp as at
    ${eventsWhere(scope, span, sql`${matchEntity(scope, entity)} and e.event <> all(${names}::text[])`)}`;
}

const isLike = ({ projectId, now, cohorts }: EventScope, property: FilterGroup): Sql =>
  compileFilter(property, {
    projectId,
    now,
    cohorts,
    attr: 'funnel_correlation_property_values',
    person: { id: sql`p.id`, properties: sql`coalesce(p.properties, '{}')` },
  });

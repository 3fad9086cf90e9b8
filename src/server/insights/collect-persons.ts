import { type Sql, sql } from '../database/sql.ts';
import { selectValue } from './breakdown-store.ts';
import type { BreakdownBy } from './entity.ts';
import { ACTOR, type EventScope, eventsWhere, findBucket, type Span } from './events-store.ts';
import type { Steps } from './steps.ts';

/** What is to be known of the persons who did something. */
export interface PersonFacts {
  readonly span: Span;
  /** Whether an event `e` counts. */
  readonly match: (scope: EventScope) => Sql;
  /**
   * Where the buckets begin.
   * @default one bucket
   */
  readonly starts?: readonly string[];
  readonly breakdown?: BreakdownBy | undefined;
  /** Which moment is kept of each fact. */
  readonly moment: 'first' | 'last';
}

/**
 * One fact for an id of a person, a bucket and a value: `actor`, `bucket`, `value`, the first or last moment `at`, and
 * when the person was created. A person may have several that are equal. That is a tenth of the facts of a history in
 * which persons do ten things a week. Ids are turned into persons once these are few, and what a value takes from persons
 * is read then: otherwise the tables of ids and of persons, which outgrow the caches of a processor, would be asked for
 * each event, and every step of the embedded database would read them again.
 */
export async function collectPersons(
  steps: Steps,
  scope: EventScope,
  { span, match, starts, breakdown, moment }: PersonFacts,
): Promise<Sql> {
  const isOfPerson = breakdown?.owner === 'person' || breakdown?.owner === 'cohort';
  const bucket = starts === undefined ? sql`1` : findBucket(sql`e.timestamp`, starts);
  // Of the ids: `actor` is what facts are divided by.
  const ids = await steps.collect(
    scope,
    (
      within,
    ) => sql`select actor, person_id, bucket, value, ${moment === 'first' ? sql`min(at)` : sql`max(at)`} as at
      from (
        select e.distinct_id as actor, e.person_id, ${bucket} as bucket,
          ${isOfPerson ? sql`''` : selectValue(within, breakdown)} as value, e.timestamp as at
        ${eventsWhere(within, span, match(within))}) as each_event
      group by actor, person_id, bucket, value`,
  );
  return steps.derive(
    [ids],
    (
      of,
    ) => sql`select ${ACTOR} as actor, e.bucket, ${isOfPerson ? selectValue(scope, breakdown) : sql`e.value`} as value,
        e.at, p.created_at
      from (select actor as distinct_id, person_id, bucket, value, at from ${of(ids)} as ids) as e
      left join person_distinct_ids d on d.project_id = ${scope.projectId}::integer and d.distinct_id = e.distinct_id
      left join persons p on p.id = d.person_id`,
  );
}

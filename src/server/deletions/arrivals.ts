import { type Sql, sql } from '../database/sql.ts';

/*
 * `received_at` of events and `covers_until` of deletions are in the order of the transactions that wrote them, which
 * the lock of the project puts one after the other, also where the clock of the database is set back between them:
 *
 * - An event comes after the newest deletion that is still open. Of one that is verified, nothing is left to order.
 * - A deletion comes after the one before it, and after every event so far. No index has the newest event, so
 *   `arrivals` keeps a time that none is later than. It is a second ahead: one row a second is written, not one for
 *   each request.
 */

const AHEAD = sql`interval '1 second'`;

/** The time, or where the newest open deletion is not before it, just after that. */
const afterOpenDeletions = (projectId: number): Sql =>
  sql`greatest(clock_timestamp(), (
    select covers_until + interval '1 millisecond' from deletions
    where project_id = ${projectId} and verified_at is null
    order by id desc limit 1))`;

/**
 * For the beginning of a statement that stores events, under the lock of the project: `arrival (at)`, their
 * `received_at`, and the note of it.
 */
export const withArrival = (projectId: number): Sql =>
  sql`arrival (at) as materialized (select ${afterOpenDeletions(projectId)}),
    noted as (
      insert into arrivals (project_id, received_until)
      select ${projectId}, at + ${AHEAD} from arrival
      where not exists (select from arrivals where project_id = ${projectId} and received_until >= at)
      on conflict (project_id) do update set received_until = excluded.received_until
    )`;

/** `covers_until` of a deletion that is queued under the lock of the project. */
export const toCoverAll = (projectId: number): Sql =>
  sql`greatest(${afterOpenDeletions(projectId)}, (select received_until from arrivals where project_id = ${projectId}))`;

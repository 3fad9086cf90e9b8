import type { Migration } from '../migration.ts';

/**
 * Events are the same row when uuid, name, distinct_id and UTC day agree, as at the service. Before, a uuid
 * alone was a row. Ingestion looks rows up under the lock of the project, so no unique index repeats that:
 * with names and ids in it, it would be three times as large.
 */
export const eventRows: Migration = {
  version: 10,
  name: 'event rows',
  statements: [
    `alter table events drop constraint events_pkey`,
    `create index events_by_uuid on events (project_id, uuid)`,
  ],
};

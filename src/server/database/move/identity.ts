import type { Queryable } from '../db.ts';

export interface DatabaseIdentity {
  /**
   * Tells one database from another: the random id of the organization that its tables were made with. A move copies it,
   * and so does a backup.
   */
  readonly id: string;
  /** Nobody has used it: it has no project. */
  readonly isUnused: boolean;
}

/** Of a database that has its tables. */
export async function identifyDatabase(db: Queryable): Promise<DatabaseIdentity> {
  const [row] = await db.query<DatabaseIdentity>(
    `select (select id::text from organizations order by created_at, id limit 1) as id,
      not exists (select from projects) as "isUnused"`,
  );
  return { id: row?.id ?? '', isUnused: row?.isUnused ?? true };
}

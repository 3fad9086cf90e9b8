import {
  type DatabaseNote,
  hasEmbeddedDatabase,
  putDatabaseNote,
  readDatabaseNote,
  toDatabasePaths,
} from '../embedded/database-note.ts';
import { ConfigError } from '../lib/errors.ts';
import type { Db } from './database/db.ts';
import { type DatabaseIdentity, identifyDatabase } from './database/move/identity.ts';

/** The database that a start found. */
export interface FoundDatabase extends DatabaseIdentity {
  readonly kind: DatabaseNote['kind'];
  /** The data folder holds an embedded database. */
  readonly hasEmbedded: boolean;
}

/**
 * Keys stay with their database: a migration that is continued knows its project by the key, and would send what is left to
 * another database without a word. Returns why a database is not that of the data folder; undefined where it is, or where
 * nothing says so.
 */
export function explainOtherDatabase(
  known: DatabaseNote | undefined,
  { kind, id, isUnused, hasEmbedded }: FoundDatabase,
  dataDir: string,
): string | undefined {
  const { folder, note } = toDatabasePaths(dataDir);
  const unlike = known?.id !== id;
  if (kind === 'server') {
    const isUnmoved = known ? known.kind === 'embedded' && unlike : isUnused && hasEmbedded;
    if (isUnmoved)
      return `The data of ${dataDir} is in its embedded database, and the database in DATABASE_URL does not have it: move it there with "backhaul database move", or unset DATABASE_URL. To use the other database in its place, rename ${folder}, remove ${note}, and import again under new names what was sent to the old one.`;
    return known && unlike
      ? `DATABASE_URL names another database than the one that ${dataDir} was used with: correct it, or restore that database. ${toReplace(note)}`
      : undefined;
  }
  if (known?.kind === 'server')
    return `The data of ${dataDir} is in a PostgreSQL server: set DATABASE_URL for this process, too. ${toReplace(note)}`;
  return known && unlike
    ? `${folder} is not the embedded database that ${dataDir} was used with: restore it. ${toReplace(note)}`
    : undefined;
}

const toReplace = (note: string) =>
  `To use this database in its place, remove ${note}, and import again under new names what was sent to the other one.`;

/** Before an embedded database is opened, which may create it. Throws ConfigError. */
export function assertEmbeddedIsOwn(dataDir: string): void {
  const known = readDatabaseNote(dataDir);
  const hasEmbedded = hasEmbeddedDatabase(dataDir);
  const id = hasEmbedded ? (known?.id ?? '') : '';
  refuse(explainOtherDatabase(known, { kind: 'embedded', id, isUnused: false, hasEmbedded }, dataDir));
}

/** Once its tables are there, and before anything is written to them. Throws ConfigError. */
export async function assertOwnDatabase(db: Db, kind: DatabaseNote['kind'], dataDir: string): Promise<void> {
  const known = readDatabaseNote(dataDir);
  const { id, isUnused } = await identifyDatabase(db);
  const hasEmbedded = hasEmbeddedDatabase(dataDir);
  refuse(explainOtherDatabase(known, { kind, id, isUnused, hasEmbedded }, dataDir));
  if (known?.id !== id || known.kind !== kind) putDatabaseNote(dataDir, { id, kind });
}

function refuse(reason: string | undefined): void {
  if (reason !== undefined) throw new ConfigError(reason);
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../lib/errors.ts';
import { createPrivateFolder, putPrivateFile, readTextIfThere } from './private-file.ts';

/** Which database the keys of a data folder are used with. `server`: a PostgreSQL server. */
const databaseNote = z.strictObject({ id: z.string(), kind: z.enum(['embedded', 'server']) });
export type DatabaseNote = z.infer<typeof databaseNote>;

/** Files of a data folder that say which database it has. */
export const toDatabasePaths = (dataDir: string) => ({
  folder: join(dataDir, 'database'),
  note: join(dataDir, 'database.json'),
});

export const hasEmbeddedDatabase = (dataDir: string): boolean =>
  existsSync(join(toDatabasePaths(dataDir).folder, 'PG_VERSION'));

/** Undefined before the first start, and where an earlier version was the last to use the folder. */
export function readDatabaseNote(dataDir: string): DatabaseNote | undefined {
  const { note } = toDatabasePaths(dataDir);
  const text = readTextIfThere(note);
  if (text === undefined) return undefined;
  try {
    return databaseNote.parse(JSON.parse(text));
  } catch (error) {
    throw new ConfigError(
      `${note} does not say which database the data folder has. Make sure that DATABASE_URL is as before, then remove that file.`,
      error,
    );
  }
}

export function putDatabaseNote(dataDir: string, note: DatabaseNote): void {
  createPrivateFolder(dataDir);
  putPrivateFile(toDatabasePaths(dataDir).note, `${JSON.stringify(note, null, 2)}\n`);
}

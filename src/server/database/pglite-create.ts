import { openPgliteSession } from './pglite-session.ts';

// The program that makes the files of an embedded database, and ends (pglite-files.ts).
const [dataDir] = process.argv.slice(2);
if (dataDir === undefined) throw new Error('pglite-create needs the folder of the new database');
const session = await openPgliteSession(dataDir);
await session.close();
process.exit(0);

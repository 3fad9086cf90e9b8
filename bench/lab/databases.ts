import type { BenchPostgres } from './postgres.ts';

/** The URL of a new, empty database of a server. */
export async function createDatabase({ url }: BenchPostgres, name: string): Promise<string> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return url.replace('/postgres?', `/${name}?`);
}

/** The URL of a database of that name, which is made where the server has none; one whose making failed is made again. */
export async function makeOnce(
  { url }: BenchPostgres,
  name: string,
  make: (database: string) => Promise<void>,
): Promise<string> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      await client.query(`drop database if exists ${name}_new`);
      await client.query(`create database ${name}_new`);
      await make(url.replace('/postgres?', `/${name}_new?`));
      await client.query(`alter database ${name}_new rename to ${name}`);
    }
  } finally {
    await client.end();
  }
  return url.replace('/postgres?', `/${name}?`);
}

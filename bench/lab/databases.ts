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

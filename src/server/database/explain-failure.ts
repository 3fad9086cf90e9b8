import { BackhaulError, ConfigError } from '../../lib/errors.ts';
import { getSqlState } from './db.ts';
import { describeOutage, isRefusal } from './outage.ts';

/**
 * Why the server of a DATABASE_URL cannot be used, for the operator: with its address, without its
 * password. What is no matter of reaching and opening it comes back as it is.
 */
export function explainFailure(databaseUrl: string, error: unknown): unknown {
  const state = getSqlState(error);
  if (error instanceof BackhaulError || (state !== undefined && !isRefusal(error))) return error;
  const where = getPublicUrl(databaseUrl);
  const advice = state === undefined ? 'Start that server, or correct DATABASE_URL' : 'Correct DATABASE_URL';
  return new ConfigError(
    `The PostgreSQL server at ${where} (DATABASE_URL) cannot be used: ${describeOutage(error)}. ${advice}; leave it unset for the embedded database.`,
    error,
  );
}

function getPublicUrl(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'the given address';
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

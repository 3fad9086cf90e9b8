import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BackhaulError, ConfigError } from '../../../src/lib/errors.ts';
import { explainFailure } from '../../../src/server/database/explain-failure.ts';
import { startApi } from '../../../src/server/server.ts';
import { silent } from '../../support/databases.ts';

const URL_WITH_PASSWORD = 'postgres://ann:s3cret@localhost:1/shop';

test('a server that is not there is named, without its password, and what to do', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'backhaul-no-database-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const failure = await startApi({ dataDir, databaseUrl: URL_WITH_PASSWORD, port: 0, log: silent }).catch(
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(ConfigError);
  expect(String(failure)).toMatch(
    /The PostgreSQL server at localhost:1\/shop \(DATABASE_URL\) cannot be used: .*ECONNREFUSED.*\. Start that server, or correct DATABASE_URL; leave it unset/,
  );
  expect(String(failure)).not.toContain('s3cret');
});

test('a password that is refused is for the operator, what is no matter of access is not', () => {
  const refused = Object.assign(new Error('password authentication failed for user "ann"'), {
    code: '28P01',
  });
  expect(String(explainFailure(URL_WITH_PASSWORD, refused))).toContain(
    'password authentication failed for user "ann". Correct DATABASE_URL;',
  );
  const full = Object.assign(new Error('no space left'), { code: '53100' });
  expect(explainFailure(URL_WITH_PASSWORD, full)).toBe(full);
  const newer = new BackhaulError('schema', 'set up by a newer Backhaul', 'never');
  expect(explainFailure(URL_WITH_PASSWORD, newer)).toBe(newer);
});

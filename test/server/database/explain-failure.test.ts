import { expect, test } from 'vitest';
import { BackhaulError, ConfigError } from '../../../src/lib/errors.ts';
import { explainFailure } from '../../../src/server/database/explain-failure.ts';

const URL_WITH_PASSWORD = 'postgres://ann:s3cret@localhost:1/shop';

test('a server that is not there is named, without its password, and what to do', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  const failure = explainFailure(URL_WITH_PASSWORD, new AggregateError([refused, refused]));
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

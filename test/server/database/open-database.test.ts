import { expect, test } from 'vitest';
import { UnavailableError } from '../../../src/lib/errors.ts';
import type { Db } from '../../../src/server/database/db.ts';
import { openDatabase } from '../../../src/server/database/open-database.ts';
import { isOutage } from '../../../src/server/database/outage.ts';
import { silent } from '../../support/silent.ts';
import { until } from '../../support/until.ts';

const withCode = (code: string, more: object = {}) => Object.assign(new Error('broken'), { code, ...more });

test.each([
  ['08006', true],
  ['25006', true], // a standby
  ['25001', false], // our mistake
  ['53300', true],
  ['57P01', true],
  ['57P03', true],
  ['57014', false], // a time limit of ours
  ['28P01', false], // for the operator
  ['42P01', false],
  ['ECONNREFUSED', true],
  ['EAI_AGAIN', true],
  ['EACCES', false],
])('an error with code %s is an outage: %s', (code, expected) => {
  expect(isOutage(withCode(code))).toBe(expected);
});

test('outages without a code, and files that are missing', () => {
  expect(isOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isOutage(new Error('Client has encountered a connection error and is not queryable'))).toBe(true);
  expect(isOutage(new UnavailableError('away'))).toBe(true);
  expect(isOutage(withCode('ENOENT', { syscall: 'connect' }))).toBe(true);
  expect(isOutage(withCode('ENOENT', { syscall: 'open' }))).toBe(false);
  expect(isOutage(new Error('a bug'))).toBe(false);
});

const db: Db = {
  kind: 'postgres',
  query: async () => [],
  transaction: (run) => run(db),
  watch: () => undefined,
  close: async () => {},
};
const explain = (error: unknown) => error;

test('a database that is away is refused until it could be prepared, which is tried again', async () => {
  const outcomes = [withCode('ECONNREFUSED'), withCode('57P03'), withCode('42501'), undefined];
  const prepare = async () => {
    const error = outcomes.shift();
    if (error !== undefined) throw error;
  };
  const opened = await openDatabase({ db, prepare, explain, log: silent, tryAgainMs: 1 });
  expect(opened.waitingFor).toBe('broken');
  await expect(opened.db.query('select 1')).rejects.toBeInstanceOf(UnavailableError);
  const answer = () => opened.db.query('select 1').catch(() => undefined);
  expect(await until('the database to be prepared', answer)).toEqual([]);
  expect(outcomes).toEqual([]);
});

test('what is no outage ends the start', async () => {
  const prepare = async () => {
    throw withCode('28P01');
  };
  await expect(openDatabase({ db, prepare, explain, log: silent })).rejects.toMatchObject({ code: '28P01' });
});

test('a long preparation does not keep the API from answering', async () => {
  let end = () => {};
  const prepare = () =>
    new Promise<void>((resolve) => {
      end = resolve;
    });
  const opened = await openDatabase({ db, prepare, explain, log: silent, preparedWithinMs: 1 });
  expect(opened.waitingFor).toContain('tables');
  await expect(opened.db.query('select 1')).rejects.toBeInstanceOf(UnavailableError);
  end();
  await opened.close();
  expect(await opened.db.query('select 1')).toEqual([]);
});

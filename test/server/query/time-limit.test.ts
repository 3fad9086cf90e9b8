import { expect, test } from 'vitest';
import { runSql, sql } from '../../../src/server/database/sql.ts';
import { inTime, isTooSlow, limitTime } from '../../../src/server/query/time-limit.ts';
import { onBothDatabases } from '../../support/databases.ts';

onBothDatabases('a limit of time', (db) => {
  const count = (milliseconds: number) =>
    runSql<{ count: number }>(
      db(),
      sql`select count(*) as count from generate_series(1, 3) as row where ${inTime(milliseconds)}`,
    );
  const failure = async (work: Promise<unknown>): Promise<unknown> => {
    try {
      await work;
    } catch (error) {
      return error;
    }
    throw new Error('it was in time');
  };

  test('ends what is past it, and nothing else', async () => {
    expect(await count(60_000)).toEqual([{ count: 3 }]);
    expect(isTooSlow(await failure(count(0)))).toBe(true);
    expect(isTooSlow(await failure(db().query('select nonsense')))).toBe(false);
    expect(isTooSlow(new Error('57014'))).toBe(false);
  });

  test('is over with its transaction', async () => {
    const sleepy = db().transaction(async (tx) => {
      await limitTime(tx, 20);
      await tx.query('select pg_sleep(0.2)');
      await limitTime(tx, 0);
    });
    if (db().kind === 'postgres') expect(isTooSlow(await failure(sleepy))).toBe(true);
    else await sleepy; // PGlite knows no such limit: hence the condition
    expect(await db().query(`select current_setting('statement_timeout') as bound`)).toEqual([
      { bound: '0' },
    ]);
  });
});

import { pino } from 'pino';
import { expect, test } from 'vitest';
import { watchSize } from '../../../src/server/database/outgrown.ts';
import { onBothDatabases } from '../../support/databases.ts';
import { until } from '../../support/until.ts';

onBothDatabases('a database that has become large', (db) => {
  test('says so where it is embedded, and how to move it', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    watchSize(db(), log, 1e15).close();
    watchSize(db(), log, 1).close();
    if (db().kind === 'postgres') return expect(lines).toEqual([]);
    await until('the warning', async () => lines[0]);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 40,
      bytes: expect.any(Number),
      msg: expect.stringMatching(/holds 0\.0 GiB.*`backhaul database move --to postgres:.*DATABASE_URL=/),
    });
  });
});

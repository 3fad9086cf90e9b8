import { beforeAll, describe, expect, test } from 'vitest';
import type { Db, Queryable } from '../../../../src/server/database/db.ts';
import { migrate } from '../../../../src/server/database/migrate.ts';
import { sortByReferences } from '../../../../src/server/database/move/list-tables.ts';
import { moveDatabase } from '../../../../src/server/database/move/move-database.ts';
import { refuseHalfMoved } from '../../../../src/server/database/move/progress.ts';
import { createSerialDb } from '../../../../src/server/database/pglite.ts';
import { openPgliteSession } from '../../../../src/server/database/pglite-session.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { readEmptyPglite } from '../../../support/empty-pglite.ts';
import { createLab, did } from '../../insights/lab.ts';

describe('tables that refer to others', () => {
  test('come after them', () => {
    const tables = ['a', 'b', 'c'].map((name) => ({ name }));
    const sorted = sortByReferences(tables, [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'a', to: 'elsewhere' },
    ]);
    expect(sorted.map(({ name }) => name)).toEqual(['c', 'b', 'a']);
  });

  test('in a circle are refused', () => {
    const circle = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'a' },
    ];
    expect(() => sortByReferences([{ name: 'a' }, { name: 'b' }, { name: 'c' }], circle)).toThrow(/a, b/);
  });
});

const NOT_WHOLE = /did not finish.*repeat "backhaul database move".*an empty database\.$/;

const dump = async (db: Db, table: string, columns = '*') =>
  (
    await db.query<{ row: string }>(
      `select row_to_json(t)::text as row from (select ${columns} from ${table}) t order by 1`,
    )
  ).map(({ row }) => row);

async function openSource(): Promise<Db> {
  const initial = await readEmptyPglite();
  const db = createSerialDb(() => openPgliteSession(undefined, initial));
  await migrate(db);
  return db;
}

/** A database that fails at the `count`th transaction, as one does that goes away. */
function failAfter(db: Db, count: number): Db {
  let left = count;
  return {
    ...db,
    transaction: (run, use) => {
      if (left-- === 0) throw new Error('gone');
      return db.transaction(run, use);
    },
  };
}

onEveryDatabase('a moved database', (target) => {
  let source: Db;
  beforeAll(async () => {
    source = await openSource();
    const lab = await createLab(source);
    await lab.api.send(
      did('ann', '$identify', '01-01 10:00', { $set: { plan: 'pro', big: 1.5 }, $anon_distinct_id: 'x' }),
      ...Array.from({ length: 300 }, (_, index) =>
        did(`user ${index}`, 'näme "quoted"', '01-02 10:00', { index, text: 'x'.repeat(index * 10) }),
      ),
    );
    await source.query(
      `update events set properties = jsonb_set(properties, '{exact}', '12345678901234567890.123456789012345678') where distinct_id = 'ann'`,
    );
    await source.query(
      "insert into feature_flags (project_id, key, name, active, keeps_value, filters) select id, 'f', '', true, false, '{}' from projects",
    );
    return () => source.close();
  });

  test('refuses a target with data of its own', async () => {
    const own = await openSource();
    await createLab(own);
    await expect(moveDatabase(source, own)).rejects.toThrow(/projects of its own.*Name an empty one/);
    await own.close();
  });

  test('ends at a step where that is asked for', async () => {
    const stop = new AbortController();
    const copied: number[] = [];
    const onProgress = (rows: number) => {
      copied.push(rows);
      stop.abort(new Error('asked to stop'));
    };
    await expect(moveDatabase(source, target(), { signal: stop.signal, onProgress })).rejects.toThrow(
      'asked to stop',
    );
    expect(copied).toHaveLength(1);
    await expect(refuseHalfMoved(target())).rejects.toThrow(NOT_WHOLE);
  });

  test('has every row as it was, though the move was interrupted time and again', async () => {
    let interruptions = 0;
    for (;;) {
      try {
        const moved = await moveDatabase(source, failAfter(target(), 3 + 3 * interruptions));
        expect(moved.find(({ name }) => name === 'events')?.rows).toBe(301);
        break;
      } catch (error) {
        expect(String(error)).toContain('gone');
        interruptions += 1;
      }
    }
    expect(interruptions).toBeGreaterThan(5);
    for (const table of [
      'organizations',
      'users',
      'projects',
      'persons',
      'person_distinct_ids',
      'events',
      'feature_flags',
      'event_definitions',
    ]) {
      expect(await dump(target(), table), table).toEqual(await dump(source, table));
    }
    const [row] = await target().query<{ exact: string }>(
      "select properties ->> 'exact' as exact from events where distinct_id = 'ann'",
    );
    expect(row?.exact).toBe('12345678901234567890.123456789012345678');
    const [left] = await target().query("select to_regclass('database_move') as left");
    expect(left).toEqual({ left: null });
    await refuseHalfMoved(target());
  });

  test('numbers what comes after', async () => {
    const next = async (tx: Queryable) =>
      (
        await tx.query<{ id: number }>(
          "select nextval(pg_get_serial_sequence('persons', 'id'))::integer as id",
        )
      )[0]?.id;
    expect(await next(target())).toBe(await next(source));
  });

  test('is refused a second time', async () => {
    await expect(moveDatabase(source, target())).rejects.toThrow(/of its own/);
  });
});

onEveryDatabase('a move whose source changes meanwhile', (target) => {
  test('ends with what differs, and not as done', async () => {
    const source = await openSource();
    const lab = await createLab(source);
    await lab.api.send(did('ann', 'seen', '01-02 10:00'));
    const changing: Db = {
      ...target(),
      query: async (text, params) => {
        // The numbers of the last table are set: everything is copied.
        if (text.includes('setval'))
          await source.query('update events set properties = \'{"changed": true}\'');
        return target().query(text, params);
      },
    };
    await expect(moveDatabase(source, changing)).rejects.toThrow(
      /events: other contents.*save what somebody wrote to the target.*would be lost.*move again/,
    );
    await expect(refuseHalfMoved(target())).rejects.toThrow(NOT_WHOLE);
    await source.close();
  });

  test('is not taken for the move of another database', async () => {
    const other = await openSource();
    await createLab(other);
    await expect(moveDatabase(other, target())).rejects.toThrow(/Another database is being moved/);
    await other.close();
  });
});

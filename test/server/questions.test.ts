import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { migrate } from '../../src/server/database/migrate.ts';
import { createSerialDb } from '../../src/server/database/pglite.ts';
import { openPgliteSession, type PgliteSession } from '../../src/server/database/pglite-session.ts';
import { createInsightResults } from '../../src/server/insights/results.ts';
import { createTestApi } from '../support/api.ts';
import { readEmptyPglite } from '../support/empty-pglite.ts';
import { did, NOW, storedInsight } from './insights/lab.ts';

/**
 * The embedded database runs one statement at a time. What is counted here is not time but how many
 * statements of a question a capture waits for: it was every one of them.
 */
test('a capture on the embedded database waits for the step of a question that runs, not for the question', async () => {
  const log: string[] = [];
  let onQuestion = () => {};
  const firstStep = new Promise<void>((resolve) => {
    onQuestion = resolve;
  });
  const open = async (): Promise<PgliteSession> => {
    const session = await openPgliteSession(undefined, await readEmptyPglite());
    return {
      ...session,
      get lost() {
        return session.lost;
      },
      async query(text, params) {
        const kind = text.includes('pg_temp')
          ? 'question'
          : text.includes('insert into events')
            ? 'capture'
            : '';
        if (kind !== '') log.push(kind);
        if (kind === 'question') onQuestion();
        return session.query(text, params);
      },
    };
  };
  const db = createSerialDb(open);
  await migrate(db);
  const now = () => Date.parse(NOW);
  const api = await createTestApi(db, now);
  await api.send(
    ...Array.from({ length: 600 }, (_, n) =>
      did(`u${n % 100}`, 'view', '01-09 08:30', { text: 'x'.repeat(200) }),
    ),
  );

  const sizes = { atOnceMs: 0, firstBlocks: 16, factsAStep: 50 };
  const results = createInsightResults({ now, sizes, waitMs: 600_000 });
  const filters = {
    insight: 'FUNNELS',
    events: [{ id: 'view' }, { id: 'view', order: 1 }],
    date_from: '2024-01-01',
  };
  log.length = 0;
  let answered = false;
  const question = results.compute(db, api.project.id, storedInsight(filters)).then((result) => {
    answered = true;
    return result;
  });
  await firstStep;
  const waits: number[] = [];
  while (!answered) {
    const before = log.length;
    await api.send(did('live', 'view', '01-10 10:00'));
    const capture = log.indexOf('capture', before);
    waits.push(log.slice(before, capture).filter((kind) => kind === 'question').length);
    await nextTurn();
  }
  expect(await question).toMatchObject({ kind: 'computed' });
  expect(log.filter((kind) => kind === 'question').length).toBeGreaterThan(10);
  expect(waits.length).toBeGreaterThan(5);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2);
  await db.close();
}, 120_000);

import { expect, test } from 'vitest';
import { UnavailableError } from '../../../../src/lib/errors.ts';
import type { Db } from '../../../../src/server/database/db.ts';
import { createDecider } from '../../../../src/server/flags/decide/decide.ts';
import { parseDecideRequest } from '../../../../src/server/flags/decide/request.ts';
import { createTestApi } from '../../../support/api.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { addFlag } from '../flag-lab.ts';

/** A database whose statements fail, or never come back, from a moment on. */
function createUnsteady(db: Db): Db & { state: 'up' | 'down' | 'silent' } {
  const unsteady = {
    ...db,
    // As where other processes write: what was found is not kept, and the database is asked again.
    watch: () => undefined,
    state: 'up' as 'up' | 'down' | 'silent',
    query<R>(...args: Parameters<Db['query']>): Promise<R[]> {
      if (unsteady.state === 'down') return Promise.reject(new UnavailableError('away'));
      return unsteady.state === 'silent' ? new Promise(() => {}) : db.query<R>(...args);
    },
  };
  return unsteady;
}

onEveryDatabase('decisions while the database is away', (db) => {
  test('are made of what needs nothing from it', async () => {
    const { project, send } = await createTestApi(db());
    await send({
      event: '$set',
      timestamp: '2024-01-01T00:00:00Z',
      properties: { distinct_id: 'ada', $set: { plan: 'pro' } },
    });
    const pro = { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] };
    for (const [key, filters] of Object.entries({ everybody: { groups: [{}] }, pro })) {
      await addFlag(db(), project.id, key, filters);
    }
    const unsteady = createUnsteady(db());
    const decider = createDecider({ db: unsteady, now: Date.now, storeWithinMs: 1000 });
    const ask = (more: object = {}) => {
      const request = parseDecideRequest({ distinct_id: 'ada', ...more });
      return decider.decide(project.projectKey, { ...request, distinctId: 'ada' }, {});
    };
    const both = new Map([
      ['everybody', true],
      ['pro', true],
    ]);
    const valuesOf = ({ decided }: Awaited<ReturnType<typeof ask>>['decisions']) =>
      new Map([...decided].map(([key, { value }]) => [key, value]));

    unsteady.state = 'down';
    await expect(ask()).rejects.toThrow('away'); // nothing is known of the project yet
    unsteady.state = 'up';
    expect(valuesOf((await ask()).decisions)).toEqual(both);
    for (const state of ['down', 'silent'] as const) {
      unsteady.state = state;
      const { decisions } = await ask();
      expect(valuesOf(decisions)).toEqual(new Map([['everybody', true]]));
      expect([...decisions.failed.keys()]).toEqual(['pro']);
      await decider.check(project.projectKey);
      await expect(decider.check('phc_never_seen')).rejects.toThrow(UnavailableError);
      expect(valuesOf((await ask({ person_properties: { plan: 'pro' } })).decisions)).toEqual(both);
      unsteady.state = 'up';
    }
  });

  test('are looked up together', async () => {
    const { project } = await createTestApi(db());
    let statements = 0;
    const counting: Db = {
      ...db(),
      query<R>(...args: Parameters<Db['query']>): Promise<R[]> {
        statements += 1;
        return db().query<R>(...args);
      },
    };
    const decider = createDecider({ db: counting, now: Date.now });
    const ask = (distinctId: string) =>
      decider.decide(
        project.projectKey,
        { ...parseDecideRequest({ distinct_id: distinctId }), distinctId },
        {},
      );
    await ask('first');
    statements = 0;
    await Promise.all(Array.from({ length: 150 }, (_, n) => ask(`id ${n}`)));
    expect(statements).toBeLessThanOrEqual(3);
  });
});

import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_PREFIX } from '../../jobs/catalog.ts';
import type { RunStatus } from '../../src/migrations/run/run-status.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { leaseKey } from '../../src/state/checkpoints.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { ALL } from '../support/form.ts';
import { importing, line, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { until } from '../support/until.ts';

/** A real Redis that answers, and refuses to write, in the middle of a run. */
let lab: MigrationLab;

beforeAll(async () => {
  lab = await openMigrationLab({ latencyMs: 150 });
});
afterAll(() => lab?.close());

const FILES = 24;
/** A port where nothing listens. */
const NO_MASTER = ['127.0.0.1', '1'] as const;

const OUTAGES: Record<
  string,
  { start(redis: Redis): Promise<unknown>; end(redis: Redis): Promise<unknown> }
> = {
  OOM: {
    start: (redis) => redis.config('SET', 'maxmemory', '1'),
    end: (redis) => redis.config('SET', 'maxmemory', '0'),
  },
  READONLY: {
    start: (redis) => redis.replicaof(...NO_MASTER),
    end: (redis) => redis.replicaof('NO', 'ONE'),
  },
  NOREPLICAS: {
    start: (redis) => redis.config('SET', 'min-replicas-to-write', '1'),
    end: (redis) => redis.config('SET', 'min-replicas-to-write', '0'),
  },
};

/** Runs 26 parts, starts the outage after the first one, and ends it once `isLongEnough` says so. */
async function runThrough(name: string, answer: string, isLongEnough: () => Promise<boolean>) {
  const outage = OUTAGES[answer];
  const loaded = await lab.writeManifest(name);
  for (let file = 0; file < FILES; file += 1)
    lab.writeFile(name, `more-${file}.json`, [line(`${name}-${file}-more`)]);
  const before = lab.destination.events().size;

  let started: Promise<unknown> | undefined;
  let ended: Promise<unknown> | undefined;
  const waits = new Set<string | undefined>();
  const end = async () => {
    await until('the outage to be long enough', async () => (await isLongEnough()) || undefined);
    await outage?.end(lab.redis);
  };
  const onStatus = ({ parts, waitingFor }: RunStatus) => {
    if (parts.done > 0) started ??= outage?.start(lab.redis);
    if (started) waits.add(waitingFor);
    if (waitingFor?.includes(answer)) ended ??= end();
  };
  const result = await startMigration(lab.runtime, loaded, importing({ onStatus }));
  await ended;
  expect(result).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts: { read: FILES + 3, delivered: FILES + 2 } },
  });
  expect(lab.destination.events().size).toBe(before + FILES + 2);
  expect([...waits].filter((wait) => wait?.startsWith(`Redis: ${answer} `))).not.toEqual([]);
}

/** The producer renews its lease about once a second, for 15 seconds; here it could not for a while. */
async function isLeaseOlderThan(name: string, ms: number): Promise<boolean> {
  const record = await loadMigration(lab.runtime.staging, name);
  return (await lab.redis.pttl(leaseKey(record?.id ?? ''))) < 15_000 - ms;
}

describe('a Redis that answers errors during a run', () => {
  it.each(ALL ? Object.keys(OUTAGES) : ['OOM', 'READONLY'])(
    '%s is waited for by producer, workers and queue, and the run ends by itself',
    (answer) => {
      const name = `briefly-${answer.toLowerCase()}`;
      return runThrough(name, answer, () => isLeaseOlderThan(name, 2_000));
    },
    60_000,
  );

  it.runIf(ALL)(
    'is waited for until every lock of a job has expired, too',
    () =>
      runThrough(
        'long',
        'OOM',
        async () => (await lab.redis.keys(`${QUEUE_PREFIX}:import-part:*:lock`)).length === 0,
      ),
    180_000,
  );

  it.runIf(ALL)(
    'does not keep a run that is stopped',
    async () => {
      const stop = new AbortController();
      const loaded = await lab.writeManifest('patient');
      await OUTAGES['OOM']?.start(lab.redis);
      const onStatus = ({ waitingFor }: RunStatus) => waitingFor && stop.abort(new Error('no longer'));
      const result = await startMigration(lab.runtime, loaded, importing({ onStatus, signal: stop.signal }));
      await OUTAGES['OOM']?.end(lab.redis);
      expect(result).toMatchObject({ kind: 'stopped', reason: 'no longer' });
    },
    60_000,
  );
});

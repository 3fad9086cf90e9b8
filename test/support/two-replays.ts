import { expect } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import { listRejects } from '../../src/migrations/rejects/rejects.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { type RunOptions, startMigration } from '../../src/migrations/start.ts';
import { layout, parseStagedSlice } from '../../src/state/keys/migration.ts';
import { listSlices, loadMigration } from '../../src/state/migrations.ts';
import { importing, line, type MigrationLab } from './migration-lab.ts';

/** What an attempt at a replay does in staging; each is a step before which its process may sleep or be killed. */
export const STEPS = {
  'it writes a part': { method: 'put', key: '/parts/' },
  'it describes the part': { method: 'create', key: '/parts/' },
  'it writes of which records it is': { method: 'put', key: '/origins/' },
  'it writes that all is staged': { method: 'create', key: '/files/' },
  'it creates the record': { method: 'create', key: '_migrations/' },
  'it removes anything': { method: 'remove', key: '' },
} as const;
export type Step = keyof typeof STEPS;

export type Reason = 'bad_timestamp' | 'no_identity';

/** A migration of one good record, and of two rejects of either reason. */
export async function beginRejected(lab: MigrationLab, name: string): Promise<void> {
  const loaded = await lab.writeManifest(name, { rejects: { failAbove: '90%' } });
  const { u: _, ...anonymous } = JSON.parse(line(`${name}-4`));
  lab.writeFile(name, 'a.json', [
    line(`${name}-1`),
    line(`${name}-2`, 'yesterday'),
    line(`${name}-3`, 'yesterday'),
    JSON.stringify(anonymous),
    JSON.stringify({ ...anonymous, n: `${name}-5` }),
  ]);
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
}

/** With a manifest that corrects all of them. */
export async function replay(
  lab: MigrationLab,
  name: string,
  reason: Reason,
  { staging = lab.runtime.staging, options = importing() }: { staging?: Staging; options?: RunOptions } = {},
) {
  const mapping = {
    event: { column: 'e' },
    distinctId: { column: 'n' },
    timestamp: { column: 't' },
    key: ['n'],
    values: { t: { yesterday: '2024-02-03T04:05:06Z' } },
  };
  const { path: _, ...loaded } = await lab.writeManifest(`${name}-corrected`, {
    name,
    source: { type: 'jsonl', from: `${name}/*.json`, mapping },
  });
  return replayRejects({ ...lab.runtime, staging }, name, { loaded, reason }, options);
}

export interface Asleep {
  readonly staging: Staging;
  /** Resolves when the step is reached. */
  readonly asleep: Promise<void>;
  wake(): void;
}

/** A staging that sleeps before the first call of that step for the replay, until it is woken. */
export function sleepBefore(staging: Staging, replay: string, step: Step): Asleep {
  const { method, key: part } = STEPS[step];
  let fallAsleep = () => {};
  let wake = () => {};
  const asleep = new Promise<void>((resolve) => {
    fallAsleep = resolve;
  });
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let hasSlept = false;
  const pass = async <T>(called: string, key: string, work: () => Promise<T>): Promise<T> => {
    const isOf = key.startsWith(`${replay}/`) || key === layout(replay).record;
    if (!hasSlept && called === method && isOf && key.includes(part)) {
      hasSlept = true;
      fallAsleep();
      await woken;
    }
    return work();
  };
  return {
    staging: {
      ...staging,
      put: (key, body) => pass('put', key, () => staging.put(key, body)),
      create: (key, body) => pass('create', key, () => staging.create(key, body)),
      remove: (key) => pass('remove', key, () => staging.remove(key)),
    },
    asleep,
    wake: () => wake(),
  };
}

/** Every object of the replay by key; those of attempts that did not become it are none. */
export async function loadOwn(staging: Staging, replay: string): Promise<Map<string, string>> {
  const record = await loadMigration(staging, replay);
  const slices = record ? listSlices(record) : new Set();
  const own = new Map<string, string>();
  for await (const { key } of staging.list(layout(replay).prefix)) {
    const slice = parseStagedSlice(replay, key);
    if (slice === undefined || slices.has(slice)) own.set(key, String(await staging.get(key)));
  }
  return own;
}

/** What other attempts have left below the prefix of the replay. */
export async function listLeft(staging: Staging, replay: string): Promise<string[]> {
  const own = await loadOwn(staging, replay);
  const left: string[] = [];
  for await (const { key } of staging.list(layout(replay).prefix)) if (!own.has(key)) left.push(key);
  return left;
}

/** Every record arrived, and is in the books of one replay. */
export async function expectAllReplayed(lab: MigrationLab, name: string): Promise<void> {
  const { reasons } = await listRejects(lab.runtime, name);
  expect(reasons.map(({ reason, count, left }) => `${reason} ${count}, left ${left}`).sort()).toEqual([
    'bad_timestamp 2, left 0',
    'no_identity 2, left 0',
  ]);
  const stored = [...lab.destination.events().values()];
  const numbers = stored.map(({ distinctId, properties }) => String(properties['n'] ?? distinctId));
  const wanted = [1, 2, 3, 4, 5].map((number) => `${name}-${number}`);
  expect(numbers.filter((number) => number.startsWith(`${name}-`)).sort()).toEqual(wanted);
}

/**
 * Two attempts at one replay, of different reasons: one sleeps, the other one goes on to its end, and then the first
 * one wakes. Whichever became the replay, the other one changed nothing of it, and the next replay has the rest.
 */
export async function expectOneOfTwo(
  lab: MigrationLab,
  name: string,
  step: Step,
  /** How another machine reaches the same staging. */
  other: Staging = lab.runtime.staging,
): Promise<void> {
  const first = `${name}.replay-1`;
  await beginRejected(lab, name);
  const sleeper = sleepBefore(lab.runtime.staging, first, step);
  const slept = replay(lab, name, 'bad_timestamp', { staging: sleeper.staging }).catch(
    (error: unknown) => error,
  );
  await sleeper.asleep;
  expect(await replay(lab, name, 'no_identity', { staging: other })).toMatchObject({
    kind: 'finished',
    migration: first,
    report: { balanced: true, counts: { read: 2, delivered: 2 } },
  });
  const own = await loadOwn(other, first);
  expect(await listLeft(other, first), 'as if the first had been killed').toEqual([]);
  sleeper.wake();
  expect(await slept).toMatchObject({ message: expect.stringContaining('was started by another process') });
  expect(await loadOwn(other, first)).toEqual(own);
  expect(await listLeft(other, first)).toEqual([]);
  expect(await replay(lab, name, 'bad_timestamp')).toMatchObject({
    kind: 'finished',
    migration: `${name}.replay-2`,
    report: { balanced: true, counts: { read: 2, delivered: 2 } },
  });
  await expectAllReplayed(lab, name);
}

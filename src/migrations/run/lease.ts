import type { Redis } from 'ioredis';
import { parseStoredManifest } from '../../../config/manifest/load-manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError, FencedOutError } from '../../lib/errors.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { leaseKey, migrationKey, mirrorControl } from '../../state/checkpoints.ts';
import {
  addControl,
  type Control,
  controlState,
  loadControl,
  loadNewestControl,
  type NumberedControl,
} from '../../state/control.ts';
import {
  type EpochOpening,
  isEpochOver,
  loadEpoch,
  loadLatestEpochNumber,
  openEpoch,
} from '../../state/epochs.ts';
import { identify, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { decideStored, RefusedError } from '../life-store.ts';
import { compareEpoch, DUTIES, EPOCH_DUTIES, explainRefusal } from '../lifecycle.ts';
import { type HeldKey, holdKey } from './held-key.ts';

/** Staging is asked whether it still holds the epoch. */
const LOOK_EVERY_MS = 15_000;

/** Redis lost the migration's state, or came back with an older one: the lease must be acquired again, under a new epoch (I4). */
export class RedisWipedError extends Error {}

/** The migration was paused or cancelled while it ran. */
export class ControlError extends Error {
  readonly state: Control['state'];
  constructor(state: Control['state']) {
    super(`the migration was ${state}`);
    this.state = state;
  }
}

/**
 * Another process took files in since the record was read, and decided with which others they are staged: what is to be
 * staged must be found again.
 */
export class FilesAddedError extends Error {}

/** Another process has run the migration with another manifest since the one of a resume was read. */
export class ManifestEditedError extends Error {}

/** Why a lease is acquired: the events of the lifecycle that open an epoch. */
export type AcquiringEvent =
  | { readonly kind: 'run' | 'run_edited' | 'top_up' | 'resume' }
  | { readonly kind: 'redis_wiped'; readonly epoch: number };

/** A producer's hold on a migration: one process runs it at a time. */
export interface Lease {
  readonly epoch: number;
  /** Throws when the run must end; called about once a second. Waits for Redis alone. */
  assertRunning(): Promise<void>;
  /** Throws ControlError when staging says that the migration is paused or cancelled. */
  assertNotHeld(): Promise<void>;
  /** The migration is finished: Redis keeps nothing of it for ever. */
  finish(): Promise<void>;
  release(): Promise<void>;
}

const SET_EPOCH = `
local epoch = tonumber(redis.call('HGET', KEYS[1], 'epoch') or '0')
if epoch >= tonumber(ARGV[1]) then return epoch end
redis.call('HSET', KEYS[1], 'epoch', ARGV[1], 'control', 'running', 'control_number', ARGV[2])
redis.call('PERSIST', KEYS[1])
return 0`;

/** How long Redis remembers the epoch of a finished migration: longer than any producer of an older one sleeps. */
const FINISHED_KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Acquires the lease, opens a new epoch in staging and puts it in force in Redis: every job and writer of an
 * older epoch is fenced out from then on (I5). Throws RefusedError when another process holds the lease or
 * the lifecycle refuses the event, ControlError when a pause or cancel outlived a wiped Redis or came meanwhile, and
 * FencedOutError when another process opened an epoch since this function was called: this process may have
 * slept longer than its lease lasts, and the other may even have finished the migration. Throws FilesAddedError, with
 * nothing written, where staging has other files than `record`, and ManifestEditedError where a resume would run another
 * manifest than that of the last epoch.
 */
export async function acquireLease(
  record: MigrationRecord,
  opening: EpochOpening,
  event: AcquiringEvent,
  { staging, redis, now }: { staging: Staging; redis: Redis; now: () => Date },
): Promise<Lease> {
  const key = migrationKey(record.id);
  const latest = await loadLatestEpochNumber(staging, record);
  let held: HeldKey;
  try {
    held = await holdKey(redis, { key: leaseKey(record.id), name: record.name });
  } catch (error) {
    // One that runs needs no advice, but an end: the other drives the migration.
    if (error instanceof RefusedError && event.kind === 'redis_wiped') throw superseded(record.name);
    throw error;
  }

  let epoch: number;
  try {
    const before = await loadNewestControl(staging, record);
    const { kind } = await decideStored(staging, record, event, before.control);
    if (kind === 'stay') assertContinues(before.control?.state);
    // After the number of the epoch was fixed: whoever runs the migration from here on takes that number.
    await assertAsStored(staging, record);
    if (event.kind === 'resume' && latest > 0) await assertNotEdited(staging, record, latest, opening);
    const at = now().toISOString();
    const open = async (number: number) => {
      const document = { openedAt: at, producer: held.token, ...opening };
      const opened = await openEpoch(staging, record, number, document);
      if (opened === undefined) throw superseded(record.name);
      await assertStillThere(staging, record);
      return opened;
    };
    const assertLatest = async () => {
      const listed = await loadLatestEpochNumber(staging, record);
      if (listed > epoch) throw superseded(record.name);
      if (listed < epoch) throw new ConfigError(explainLag(staging.location));
    };
    epoch = await open(latest + 1);
    // Redis may remember more epochs than staging, where its folder was removed: the new one must be higher.
    for (let known = 1; known !== 0; ) {
      known = Number(await redis.eval(SET_EPOCH, 1, key, epoch, before.number));
      await assertLatest();
      if (known !== 0) epoch = await open(known + 1);
    }
    const running = { state: 'running', reason: '', at, epoch } as const;
    const entered = await enterRunning(staging, record, before, { running, assertLatest });
    await mirrorControl(redis, record.id, entered);
    assertContinues(entered.state);
  } catch (error) {
    await held.release().catch(() => {});
    throw error;
  }

  held.keepRenewing();
  let isGone = false;
  // Staging that is away or damaged is for those to report who work with it.
  const looking = repeat(async () => {
    isGone ||= (await loadEpoch(staging, record, epoch)) === undefined;
  }, LOOK_EVERY_MS);

  return {
    epoch,
    async assertRunning() {
      if (isGone) throw new ConfigError(explainGone(staging.location, record.name));
      const [known, control] = await redis.hmget(key, 'epoch', 'control');
      const standing = compareEpoch(epoch, known == null ? undefined : Number(known));
      const duty = EPOCH_DUTIES[standing].producer;
      if (duty === 'acquire') throw new RedisWipedError('Redis lost the newest state of the migration');
      if (duty === 'end') throw superseded(record.name);
      assertContinues(controlState.safeParse(control).data);
      if (await held.renew()) return;
      // The lease of another process: of a newer one, or of one before this, which an older Redis remembers.
      if (await isEpochOver(staging, record, epoch)) throw superseded(record.name);
      throw new RedisWipedError('Redis holds the lease of another process');
    },
    async assertNotHeld() {
      assertContinues((await loadControl(staging, record))?.state);
    },
    async finish() {
      await redis.pexpire(key, FINISHED_KEPT_MS);
      // Of a part whose holder died between its receipt and the end of its checkpoint.
      for await (const keys of redis.scanStream({ match: `${key}:part:*`, count: 1_000 }))
        for (const part of keys as string[]) await redis.pexpire(part, FINISHED_KEPT_MS);
    },
    async release() {
      clearInterval(looking);
      await held.release();
    },
  };
}

/**
 * Writes that the migration runs. What an older epoch wrote since `before` is overruled; a pause, cancel or removal
 * of an operator that came meanwhile holds, and is returned.
 */
async function enterRunning(
  staging: Staging,
  record: MigrationRecord,
  before: NumberedControl,
  {
    running,
    assertLatest,
  }: { readonly running: Control & { epoch: number }; readonly assertLatest: () => Promise<void> },
): Promise<{ readonly state: Control['state']; readonly number: number }> {
  for (let newest = before; ; ) {
    const number = newest.number + 1;
    if (await addControl(staging, record, { number, control: running })) return { state: 'running', number };
    newest = await loadNewestControl(staging, record);
    const { state = 'running', epoch } = newest.control ?? {};
    if (epoch === running.epoch) return { state, number: newest.number }; // its response was lost
    await assertLatest();
    if (epoch === undefined && DUTIES[state].producer === 'end') return { state, number: newest.number };
  }
}

async function assertAsStored(staging: Staging, record: MigrationRecord): Promise<void> {
  const stored = await loadMigration(staging, record.name);
  // It was removed, and another one was begun under its name.
  if (stored?.id !== record.id) throw superseded(record.name);
  const isSame =
    stored.files.length === record.files.length &&
    stored.files.every(({ fileId, slice, latest }, index) => {
      const own = record.files[index];
      return own?.fileId === fileId && own.slice === slice && own.latest === latest;
    });
  if (!isSame) throw new FilesAddedError(`files were taken into migration "${record.name}" meanwhile`);
}

/** It may have slept just before its epoch was opened, while the migration was removed and its name given away. */
async function assertStillThere(staging: Staging, { name, id }: MigrationRecord): Promise<void> {
  const there = await identify(staging, name);
  if (there.id !== id) throw superseded(name);
}

async function assertNotEdited(
  staging: Staging,
  { name, id }: Pick<MigrationRecord, 'name' | 'id'>,
  latest: number,
  { manifest, baseDir }: EpochOpening,
): Promise<void> {
  const last = await loadEpoch(staging, { name, id }, latest);
  const own = canonicalJson(JSON.parse(JSON.stringify(manifest)));
  const isSame = (stored: unknown) => canonicalJson(stored) === own;
  // With the defaults of this version, as it was read.
  const isAsRead = () => isSame(parseStoredManifest(last?.manifest, staging.location));
  if (!last || (last.baseDir === baseDir && (isSame(last.manifest) || isAsRead()))) return;
  throw new ManifestEditedError(`migration "${name}" was run with another manifest meanwhile`);
}

function assertContinues(state: Control['state'] | undefined): void {
  if (state !== undefined && DUTIES[state].producer === 'end') throw new ControlError(state);
}

/** Every so often, never twice at once, and whatever comes of it. */
function repeat(work: () => Promise<void>, everyMs: number): NodeJS.Timeout {
  let isUnderWay = false;
  const once = async () => {
    if (isUnderWay) return;
    isUnderWay = true;
    await work().catch(() => {});
    isUnderWay = false;
  };
  return setInterval(() => void once(), everyMs).unref();
}

const explainGone = (location: string, name: string) =>
  `${location} no longer holds migration "${name}": it was removed, moved or replaced while it ran. Put back what was there and resume it, or run its manifest again, which imports everything once more (events that are already at the destination are dropped by their uuid)`;

/** Parts, receipts and epochs are found by listings: one that is behind would hide work that is done. */
const explainLag = (location: string) =>
  `${location} does not list what was written to it a moment ago: Backhaul needs a storage whose listings show each object at once, as S3 does. Set BACKHAUL_STAGING to such a one, or turn off what caches or copies its listings`;

const superseded = (name: string) =>
  new FencedOutError(explainRefusal('superseded', { name, state: 'running', reason: '' }));

import { describeDifference } from '../../../config/manifest/manifest-identity.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { stageRejects } from '../../pipeline/stage/stage-rejects.ts';
import { getMappingName, readPinnedVersion } from '../../sources/registry.ts';
import { loadControl } from '../../state/control.ts';
import { StagedMeanwhileError } from '../../state/parts.ts';
import { findFreeName } from '../derived-name.ts';
import { requireMigration } from '../life-store.ts';
import { pinMapping } from '../manifest/places.ts';
import { readStamps } from '../manifest/stamps.ts';
import { loadStoredManifest, type ManifestAt } from '../manifest/stored-manifest.ts';
import type { MigrationRuntime } from '../migration-runtime.ts';
import { loadPersons } from '../persons/load-persons.ts';
import { assertSameProject } from '../prepare/compare-manifest.ts';
import { createRecord, StartedMeanwhileError } from '../prepare/create-record.ts';
import { preflight } from '../prepare/preflight.ts';
import { toPrepared } from '../prepare/prepare.ts';
import { type RunOptions, type RunResult, runPrepared, startMigration } from '../start.ts';
import { assertFolded } from './assert-folded.ts';
import { assertHeeded, createAssertLeftOut } from './assert-heeded.ts';
import { clearAttempt, clearOtherAttempts, createAttempt } from './attempts.ts';
import { findBegunReplay } from './begun-replay.ts';
import { listAncestors } from './family.ts';
import { listRejects, type ReplayedBy, readRejectLines } from './rejects.ts';
import { loadReplayed, type Replayed } from './replayed.ts';

export interface NothingToReplay {
  readonly kind: 'nothing_to_replay';
  readonly migration: string;
  /** Replays that have taken what was asked for, with how many of it, and how many of theirs are left. */
  readonly replays: readonly ReplayedBy[];
}

export interface ReplayInput {
  /** The corrected manifest, or that of the last run. */
  readonly loaded: ManifestAt;
  /** Only rejects of one reason. */
  readonly reason?: string | undefined;
  /** Also what a replay has sent already. @default false */
  readonly again?: boolean | undefined;
  /** Called where one that was begun is continued: it sends the rejects that there were when it began. */
  readonly onContinue?: ((migration: string) => void) | undefined;
}

/**
 * Sends rejected records that no replay has sent yet: they become the parts of a migration of their own, run with the
 * corrected manifest. Their uuids do not depend on the migration, so a replay adds nothing twice. One that was begun in
 * the same way and did not end is continued. Throws ConfigError,
 * PreflightError and UnavailableError as long as that migration does not exist.
 */
export async function replayRejects(
  runtime: MigrationRuntime,
  name: string,
  { loaded, reason, again = false, onContinue }: ReplayInput,
  options: RunOptions,
): Promise<RunResult | NothingToReplay> {
  const { staging } = runtime;
  await assertDecided(staging, name, loaded);
  const original = await requireMigration(staging, name);
  await assertHeeded(staging, original, loaded.manifest);
  await assertSameProject(runtime, original, loaded.manifest);
  await assertSameHold(staging, name, loaded.manifest);
  // What is scheduled is the migration itself.
  const { schedule: _, ...terms } = loaded.manifest;
  const stamped = { ...terms, stamps: readStamps(original) };
  const begun = await findBegunReplay(runtime, original, {
    loaded: { ...loaded, manifest: stamped },
    reason,
  });
  if (begun !== undefined) {
    onContinue?.(begun);
    return startMigration(runtime, { ...loaded, manifest: { ...stamped, name: begun } }, options);
  }
  const allowed = await preflight(runtime, loaded.manifest, []);
  const manifest = { ...stamped, name: await findFreeName(staging, name, 'replay') };
  const attempt = createAttempt(manifest.name);
  const replayed = await loadReplayed(staging, original);
  await assertFolded(staging, replayed.replays);
  const leave = (line: RejectLine) => (again ? line : replayed.leave(line));
  const assertLeftOut = await createAssertLeftOut(staging, original, manifest);
  const rejects = selectRejects(staging, name, { reason, leave, assertLeftOut });
  const files = await stageRejects(staging, attempt, rejects).catch(async (error: unknown) => {
    await clearAttempt(staging, attempt).catch(() => {}); // staging may be what is down
    throw error instanceof StagedMeanwhileError ? new StartedMeanwhileError(manifest.name) : error;
  });
  if (files.length === 0)
    return {
      kind: 'nothing_to_replay',
      migration: name,
      replays: (await listRejects(runtime, name, { reason })).replays,
    };
  const replay = { ...loaded, manifest };
  // The map of the migration itself: another would give a record that is sent twice another uuid.
  const { mapping } = original;
  const { type } = manifest.source;
  const pinned = readPinnedVersion(mapping, type) === undefined ? getMappingName(type) : mapping;
  const pins = original.pins ?? (await pinMapping(staging, manifest, loaded.baseDir));
  const record = await createRecord(runtime, replay, files, pinned, {
    replays: name,
    replaysId: original.id,
    ...(replayed.unfinished.length === 0 ? {} : { takesOver: [...replayed.unfinished] }),
    ...(reason === undefined ? {} : { replaysReason: reason }),
    stampedAs: original.stampedAs ?? original.replays ?? name,
    pins,
  }).catch(async (error: unknown) => {
    // After any other error the record may have been created all the same.
    if (error instanceof StartedMeanwhileError) await clearAttempt(staging, attempt).catch(() => {});
    throw error;
  });
  await clearOtherAttempts(staging, record).catch(() => {}); // `rm` removes them as well
  return runPrepared(runtime, toPrepared(record, replay, [], allowed), 'run', options);
}

/**
 * A replay ends with persons of its own. While parts of the migration are not imported, the fact that forbids a
 * merge may still be in one of them, also where a replay is between both. A cancelled one can be resumed; only a removed
 * one is over for good.
 */
async function assertDecided(staging: Staging, name: string, { manifest }: ManifestAt): Promise<void> {
  if (manifest.persons === 'hold') return;
  const record = await requireMigration(staging, name);
  await assertOver(staging, name);
  for await (const ancestor of listAncestors(staging, record)) await assertOver(staging, ancestor.name);
}

async function assertOver(staging: Staging, name: string): Promise<void> {
  const state = (await loadControl(staging, name))?.state;
  if (state === 'finished' || state === 'removed') return;
  const over =
    state === 'cancelled' ? `, give it up for good with "backhaul rm ${name} --keep-rejects",` : ',';
  throw new ConfigError(
    `migration "${name}" has not finished, and what it has not imported yet may forbid merges that a replay would send: finish it first with "backhaul resume ${name}"${over} or set persons: hold in the manifest of the replay`,
  );
}

/** Persons that are held are sent together, which takes the same settings; those of a migration cannot change. */
async function assertSameHold(
  staging: Staging,
  name: string,
  manifest: ManifestAt['manifest'],
): Promise<void> {
  if (manifest.persons !== 'hold') return;
  const held = await loadStoredManifest(staging, name);
  if (held.manifest.persons !== 'hold' || (await loadPersons(staging, name)).releasedBy !== undefined) return;
  const differences = describeDifference({ people: held.manifest.people }, { people: manifest.people });
  if (differences.length === 0) return;
  throw new ConfigError(
    [
      `Migration "${name}" holds its persons, and those of a replay are sent together with them, under the same settings:`,
      ...differences.map((line) => `  - ${line}`),
      `Choices: replay with the settings that it has; or send its persons first with "backhaul persons send ${name}".`,
    ].join('\n'),
  );
}

async function* selectRejects(
  staging: Staging,
  name: string,
  {
    reason,
    leave,
    assertLeftOut,
  }: {
    readonly reason: string | undefined;
    readonly leave: Replayed['leave'];
    readonly assertLeftOut: (line: RejectLine) => void;
  },
): AsyncGenerator<RejectLine> {
  for await (const line of readRejectLines(staging, name)) {
    // Of an oversize record only the head was kept; there is nothing whole to send.
    if (line.oversize || (reason !== undefined && line.reason !== reason)) continue;
    const left = leave(line);
    if (!left) continue;
    assertLeftOut(left);
    yield left;
  }
}

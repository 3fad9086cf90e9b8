import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { loadControl } from '../../state/control.ts';
import { layout } from '../../state/keys/migration.ts';
import { listMigrations, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { findFreeName } from '../derived-name.ts';
import { requireMigration } from '../life-store.ts';
import { loadStoredManifest, type ManifestAt } from '../manifest/stored-manifest.ts';
import type { MigrationRuntime } from '../migration-runtime.ts';
import { assertSameProject } from '../prepare/compare-manifest.ts';
import { createRecord } from '../prepare/create-record.ts';
import { preflight } from '../prepare/preflight.ts';
import { toPrepared } from '../prepare/prepare.ts';
import { loadFamily } from '../rejects/family.ts';
import { type RunOptions, type RunResult, resumeMigration, runPrepared } from '../start.ts';
import { hasFacts } from './facts-of.ts';
import { isRemoved } from './facts-removed.ts';
import { loadPersons } from './load-persons.ts';
import {
  isSameDestination,
  type LedgerDestination,
  toLedgerDestination,
} from './project/ledger-destination.ts';

/** Which held migrations are released. */
export type HeldSelection =
  /** These, with their replays that are held, whatever else is held. */
  | { readonly kind: 'names'; readonly names: readonly string[] }
  /** All that are held for one destination: its address, or `bundled`. */
  | { readonly kind: 'address'; readonly address: string }
  /** All that are held for the destination and project of a manifest. */
  | { readonly kind: 'manifest'; readonly manifest: ManifestAt['manifest'] };

interface Held {
  readonly record: MigrationRecord;
  readonly loaded: ManifestAt;
  readonly destination: LedgerDestination;
}

/** What to send, and with which settings. */
export interface Release {
  /** Migrations whose persons are sent, oldest first. */
  readonly names: readonly string[];
  /** Migrations that were named, and say nothing of persons. */
  readonly without: readonly string[];
  /** Of the latest of them; where some name the project, of these: what went to a named one goes nowhere else. */
  readonly loaded: ManifestAt;
  /** A migration that began to send the same and did not end. */
  readonly begun: string | undefined;
}

/**
 * Finds the held migrations of a selection. Throws ConfigError where they cannot be sent together, or where one
 * that belongs to them has not finished; undefined when nothing is held.
 */
export async function findHeld(staging: Staging, selection: HeldSelection): Promise<Release | undefined> {
  const { all, without } = await listHeld(staging, selection);
  const [first] = all;
  if (!first) return undefined;
  const named = all.filter(({ destination }) => destination.project !== undefined);
  const latest = (named.length > 0 ? named : all).reduce((a, b) =>
    a.record.createdAt <= b.record.createdAt ? b : a,
  );
  for (const { record, loaded, destination } of all) {
    if (!isSameDestination(destination, latest.destination)) {
      throw new ConfigError(
        `"${record.name}" and "${latest.record.name}" send to different projects; name the migrations of one of them`,
      );
    }
    if (toDecision(loaded) !== toDecision(latest.loaded)) {
      throw new ConfigError(
        `"${record.name}" and "${latest.record.name}" have different settings under people; their persons cannot be sent together, so send them one after the other by name, beginning with "backhaul persons send ${all[0]?.record.name ?? ''}"`,
      );
    }
    if ((await loadControl(staging, record.name))?.state !== 'finished') {
      throw new ConfigError(
        `"${record.name}" holds its persons and has not finished: finish it first, so that its facts are among those that decide; or name the migrations to send without it`,
      );
    }
  }
  const names = all.map(({ record }) => record.name);
  return { names, without, loaded: latest.loaded, begun: await findBegun(staging, names) };
}

/** How a manifest wants its persons decided; what it leaves out is its default. */
const toDecision = ({ manifest: { people } }: ManifestAt): string =>
  canonicalJson({ sharedDevices: 'none', ...people });

/**
 * Releases held migrations: a migration of its own resolves and sends what all of them say about persons, with
 * the result that one migration of all their records would have. Throws as findHeld and startMigration do.
 */
export async function sendHeldPersons(
  runtime: MigrationRuntime,
  { names, loaded, begun }: Release,
  options: RunOptions,
): Promise<RunResult> {
  const { staging } = runtime;
  for (const name of names) {
    const held = await requireMigration(runtime.staging, name);
    await assertSameProject(runtime, held, loaded.manifest);
  }
  if (begun !== undefined) return resumeMigration(runtime, begun, options);
  const allowed = await preflight(runtime, loaded.manifest, []);
  const [first = ''] = names;
  const name = await findFreeName(staging, first, 'persons');
  const release: ManifestAt = { ...loaded, manifest: { ...loaded.manifest, name, persons: 'send' } };
  const record = await createRecord(runtime, release, [], undefined, { releases: [...names] });
  return runPrepared(runtime, toPrepared(record, release, [], allowed), 'run', options);
}

async function listHeld(
  staging: Staging,
  selection: HeldSelection,
): Promise<{ readonly all: readonly Held[]; readonly without: readonly string[] }> {
  const names =
    selection.kind === 'names' ? await addReplays(staging, selection.names) : await listMigrations(staging);
  const held: Held[] = [];
  const released: string[] = [];
  const without: string[] = [];
  for (const name of names) {
    const record = await requireMigration(staging, name);
    if (record.releases) continue;
    const loaded = await loadStoredManifest(staging, name);
    const destination = toLedgerDestination(loaded.manifest);
    if (!destination || !(await isHeld(staging, name, loaded))) {
      if (selection.kind !== 'names') continue;
      const { releasedBy } = await loadPersons(staging, name);
      if (releasedBy !== undefined)
        released.push(
          `migration "${name}" holds no persons: they were sent by ${releasedBy}, whose report says which`,
        );
      else if (await saysNothing(staging, name)) without.push(name);
      else throw holdsNone(name);
      continue;
    }
    if (isSelected(destination, selection)) held.push({ record, loaded, destination });
  }
  // Where all of them were sent, the same command was given before; some of them are another set than the one that was.
  const [first] = released;
  if (first !== undefined && released.length + without.length < names.length) throw new ConfigError(first);
  const [none] = without;
  if (none !== undefined && without.length === names.length) throw holdsNone(none);
  return { all: held.sort((a, b) => (a.record.createdAt < b.record.createdAt ? -1 : 1)), without };
}

/**
 * A migration and its replays are sent together: an older value of one would else fill a gap before a newer one of the
 * other. Those that have not finished are left out, as a replay may be given up.
 */
async function addReplays(staging: Staging, names: readonly string[]): Promise<string[]> {
  const all = new Set(names);
  for (const name of names) {
    for (const { name: other } of await loadFamily(staging, await requireMigration(staging, name))) {
      if (all.has(other) || (await loadControl(staging, other))?.state !== 'finished') continue;
      if ((await loadPersons(staging, other)).isHeld) all.add(other);
    }
  }
  return [...all];
}

const holdsNone = (name: string) =>
  new ConfigError(
    `migration "${name}" holds no persons: its manifest does not say \`persons: hold\` and no more of its records were rejected than that allows, or it says nothing of persons`,
  );

/** Whether a migration has finished and says nothing of persons, so that those of others are sent without it. */
const saysNothing = async (staging: Staging, name: string): Promise<boolean> =>
  (await loadControl(staging, name))?.state === 'finished' && !(await hasFacts(staging, name));

/** Held by its last manifest or for its rejects, and not released since. */
async function isHeld(staging: Staging, name: string, { manifest }: ManifestAt): Promise<boolean> {
  const { isHeld: noted, releasedBy } = await loadPersons(staging, name);
  if (noted || manifest.persons !== 'hold') return noted;
  const state = (await loadControl(staging, name))?.state;
  return releasedBy === undefined && state !== 'finished' && state !== 'removed';
}

function isSelected(destination: LedgerDestination, selection: HeldSelection): boolean {
  if (selection.kind === 'names') return true;
  if (selection.kind === 'address') {
    const { address } = selection;
    return destination.host === (address === 'bundled' ? undefined : new URL(address).host);
  }
  const wanted = toLedgerDestination(selection.manifest);
  return wanted !== undefined && isSameDestination(destination, wanted);
}

async function findBegun(staging: Staging, names: readonly string[]): Promise<string | undefined> {
  for (const name of await listMigrations(staging)) {
    const record = await loadMigration(staging, name);
    if (!record?.releases?.some((one) => names.includes(one))) continue;
    const state = (await loadControl(staging, name))?.state;
    if (state === 'finished' || state === 'removed') continue;
    if (await isAnyRemoved(staging, record.releases)) continue; // nobody can continue it
    if ([...record.releases].sort().join() === [...names].sort().join()) return name;
    throw new ConfigError(
      `migration "${name}" has begun to send the persons of ${record.releases.join(', ')}; resume it first (${layout(name).record} is its record)`,
    );
  }
  return undefined;
}

async function isAnyRemoved(staging: Staging, names: readonly string[]): Promise<boolean> {
  for (const name of names) if (await isRemoved(staging, name)) return true;
  return false;
}

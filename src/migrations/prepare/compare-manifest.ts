import type { Manifest } from '../../../config/manifest/manifest.ts';
import {
  describeDifference,
  type ManifestIdentity,
  manifestIdentity,
} from '../../../config/manifest/manifest-identity.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError, SourceError } from '../../lib/errors.ts';
import { areStagedRejects } from '../../pipeline/stage/stage-rejects.ts';
import { SOURCE_TYPES } from '../../sources/registry.ts';
import { loadAcceptanceMark } from '../../state/destination-marks.ts';
import { type Epoch, loadLatestEpoch } from '../../state/epochs.ts';
import { type LedgerAccess, findLedger as loadLedger } from '../../state/ledger/ledger.ts';
import { loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { listReceipts } from '../../state/receipts.ts';
import { parseReplayName } from '../derived-name.ts';
import { toLedgerDestination } from '../persons/project/ledger-destination.ts';
import { assertSameAnswer } from '../persons/project/same-project.ts';
import { type DestinationDeps, resolveLedger } from '../resolve-destination.ts';

interface ComparingRuntime extends DestinationDeps {
  readonly staging: Staging;
}

/** What a manifest changes of a migration that must not change, a line each. */
export async function findManifestDifferences(
  runtime: ComparingRuntime,
  known: MigrationRecord,
  manifest: Manifest,
): Promise<string[]> {
  const { 'destination.project': _, ...stored } = known.identity as Partial<ManifestIdentity>;
  const before = { ...stored, ...withNewOptions(stored.source) };
  const { 'destination.project': __, stamps, ...now } = manifestIdentity(manifest).identity;
  // One of an earlier version stamps nothing, whatever the manifest says now.
  const differences = new Set(describeDifference(before, before.stamps ? { ...now, stamps } : now));
  for (const one of [known, ...(await loadOrigins(runtime.staging, known))])
    for (const line of await findProjectDifferences(runtime, one, manifest)) differences.add(line);
  return [...differences];
}

/** Options that came with a later version have their defaults: what it was begun with could not say otherwise. */
function withNewOptions(source: unknown): { source?: unknown } {
  const type = SOURCE_TYPES.find((each) => each.type === (source as { type?: unknown } | undefined)?.type);
  const read = type?.block.safeParse(source);
  return read?.success ? { source: read.data } : {};
}

/** The migrations that what this one sends is of, and so must go to the project of. Removed ones are left out. */
async function loadOrigins(staging: Staging, known: MigrationRecord): Promise<MigrationRecord[]> {
  const replays = known.replays ?? parseReplayName(known.name);
  const isReplay = known.files.length > 0 && areStagedRejects(known.files);
  const names = known.releases ?? (isReplay && replays !== undefined ? [replays] : []);
  const origins = await Promise.all(names.map((name) => loadMigration(staging, name)));
  return origins.filter((origin) => origin !== undefined);
}

/**
 * Whether a manifest leads to another project than the one that events of a migration were sent to.
 *
 * A project decides where events go, like an address. One that is named only now is the answer to a key that
 * nothing knows: it says that the project is the same.
 */
async function findProjectDifferences(
  runtime: ComparingRuntime,
  known: MigrationRecord,
  manifest: Manifest,
): Promise<string[]> {
  const project = manifest.destination?.project;
  const epoch = await loadLatestEpoch(runtime.staging, known);
  const then = toLedgerDestination((epoch ?? known.opening).manifest)?.project;
  if (then !== undefined) return describeDifference(toProject(then), toProject(project));
  if (project !== undefined) return [];
  // New keys of a bundled API come with a new database: what it had is gone with the old one.
  const ledger = manifest.destination && findLedgerId(manifest, runtime);
  const used = await findUsedLedger(runtime.staging, known.name, epoch);
  if (ledger === undefined || used === undefined || used === ledger) return [];
  return [
    `destination.apiKey: is another key than the one that events were sent with; if it is of the same project, name that project under destination.project`,
  ];
}

/** Throws ConfigError where a manifest would send what belongs to a migration to another project than its events. */
export async function assertSameProject(
  runtime: ComparingRuntime,
  known: MigrationRecord,
  manifest: Manifest,
): Promise<void> {
  const differences = await findProjectDifferences(runtime, known, manifest);
  if (differences.length === 0) return;
  throw new ConfigError(
    [
      `This would not go to the project that the events of migration "${known.name}" went to:`,
      ...differences.map((line) => `  - ${line}`),
    ].join('\n'),
  );
}

const toProject = (project: string | undefined) =>
  project === undefined ? {} : { 'destination.project': project };

/** The ledger that a manifest leads to; undefined where this process does not know its key. */
export const findLedgerId = (manifest: Manifest, runtime: DestinationDeps): string | undefined =>
  findLedger(manifest, runtime)?.id;

/** The same, as an epoch notes it. */
export function toEpochLedger(manifest: Manifest, runtime: DestinationDeps): Pick<Epoch, 'ledger' | 'key'> {
  const { id, key } = findLedger(manifest, runtime) ?? {};
  return {
    ...(id === undefined ? {} : { ledger: id }),
    ...(key === undefined || key === id ? {} : { key }),
  };
}

/** Throws ConfigError where it says another thing about shared devices than what was sent to the project before. */
export async function assertSameDevices(runtime: ComparingRuntime, manifest: Manifest): Promise<void> {
  const access = findLedger(manifest, runtime);
  if (!access) return;
  try {
    await loadLedger(runtime.staging, access);
    await assertSameAnswer(runtime.staging, access, toLedgerDestination(manifest));
  } catch (error) {
    // A damaged document is told of where it is used: the events do not need it.
    if (!(error instanceof SourceError)) throw error;
  }
}

/** Undefined where this process does not know its key. */
export function findLedger(manifest: Manifest, runtime: DestinationDeps): LedgerAccess | undefined {
  try {
    return resolveLedger(manifest, runtime);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** The ledger of the project that accepted events: a wrong key that nothing accepted is corrected freely. */
async function findUsedLedger(
  staging: Staging,
  name: string,
  epoch: Epoch | undefined,
): Promise<string | undefined> {
  const mark = await loadAcceptanceMark(staging, name);
  if (mark) return mark.ledger;
  if (epoch?.ledger === undefined) return undefined;
  // An earlier version left no mark.
  for await (const { tally } of listReceipts(staging, name))
    if (tally.events.accepted > 0) return epoch.ledger;
  return undefined;
}

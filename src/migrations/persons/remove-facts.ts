import type { Staging } from '../../contract/staging.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import { loadControl } from '../../state/control.ts';
import { layout } from '../../state/keys/migration.ts';
import {
  findLedger,
  forgetLedger,
  type KnownFacts,
  type Ledger,
  type LedgerAccess,
  listLedgersOf,
  loadKnownFacts,
  openLedger,
} from '../../state/ledger/ledger.ts';
import { clearStaging, listMigrations, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { requireMigration } from '../life-store.ts';
import { fingerprintFacts, hasFacts } from './facts-of.ts';
import { areFactsRemoved, loadLastLedger, loadTurnsAtRemoval, markFactsRemoved } from './facts-removed.ts';
import { hasLinks, keepLinks } from './keep-links.ts';
import { loadPersons } from './load-persons.ts';
import { loadDestination } from './project/ledger-destination.ts';
import { listReleasing, listSentElsewhere, toElsewhereMark } from './project/sent-elsewhere.ts';
import { findLost } from './rebuild-ledger.ts';
import { takeIn } from './take-in.ts';

export interface RemoveFactsDeps {
  readonly staging: Staging;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** The ledger of the migration. Throws ConfigError where this process does not know the project key. */
  readonly resolveLedger: () => LedgerAccess;
  /** Does work while no other migration has a turn at this ledger, or throws ConfigError. @default does it at once */
  readonly whileHeld?: (ledger: string, work: () => Promise<void>) => Promise<void>;
}

const atOnce: NonNullable<RemoveFactsDeps['whileHeld']> = (_, work) => work();

/**
 * Removes the identity facts of a migration, which are personal data. Its ledger has them as keyed hashes, and
 * still decides right; a migration that the ledger does not know is entered first. With `forget` these hashes
 * are dropped as well, with those of all other migrations to the same destination and project, and nothing
 * is merged there any more. Throws ConfigError for persons that are held, RefusedError for an unknown name.
 */
export async function removeFacts(
  name: string,
  { forget }: { readonly forget: boolean },
  deps: RemoveFactsDeps,
): Promise<void> {
  const { staging, now } = deps;
  const keys = layout(name);
  let facts: string | undefined;
  if (forget) {
    await forgetProject(name, deps);
  } else {
    await enterFacts(name, deps);
    ({ facts } = await fingerprintFacts(staging, await requireMigration(staging, name)));
  }
  await markFactsRemoved(staging, name, { at: now(), facts });
  for (const folder of keys.facts) await clearStaging(staging, folder);
}

/**
 * Forgets under the name of the project and under the fingerprint of its key: whatever sends persons there has one of
 * the two, or is tied to one by a migration that is still there (isProjectForgotten).
 */
async function forgetProject(name: string, deps: RemoveFactsDeps): Promise<void> {
  const { staging, now, whileHeld = atOnce } = deps;
  const ids = await listLedgersToForget(staging, name);
  const last = ids.size > 0 ? await loadLastLedger(staging, name) : undefined;
  if (last?.ledger !== undefined) ids.add(last.ledger);
  for (const id of ids) await whileHeld(id, () => forgetLedger(staging, id, now()));
  const { key } = last ?? {};
  if (key === undefined || ids.has(key)) return;
  const { host, service } = (await loadDestination(staging, name)) ?? {};
  await whileHeld(key, () => forgetLedger(staging, key, now(), { host, service }));
}

async function listLedgersToForget(staging: Staging, name: string): Promise<Set<string>> {
  // One that came back from a backup may not know the migration any more.
  const atRemoval = Object.keys(await loadTurnsAtRemoval(staging, name));
  const ids = new Set([...(await listLedgersOf(staging, name)), ...atRemoval]);
  // What no ledger was told yet would forbid merges there, too.
  const last = (await loadLastLedger(staging, name))?.ledger;
  if (last !== undefined && (await hasFacts(staging, name))) ids.add(last);
  return ids;
}

/**
 * Makes sure that a ledger knows the facts of a migration before they are removed. Where one does already, and no
 * vendor says in them who is one person, its key is not asked for. Throws as removeFacts does, without having removed anything.
 */
export async function enterFacts(
  name: string,
  { staging, now, signal, resolveLedger, whileHeld = atOnce }: RemoveFactsDeps,
): Promise<void> {
  const record = await requireMigration(staging, name);
  if ((await areFactsRemoved(staging, name)) || !(await hasFacts(staging, name))) return;
  if ((await loadPersons(staging, name)).isHeld) {
    throw new ConfigError(
      `migration "${name}" holds persons that were not sent; send them first with "backhaul persons send ${name}", or give them up with "backhaul rm ${name} --forget": then nothing is merged at that destination any more`,
    );
  }
  const print = await fingerprintFacts(staging, record);
  const knowing: string[] = [];
  for (const id of await listLedgersOf(staging, name)) {
    const known = await loadKnownFacts(staging, id, name);
    if (known?.facts !== print.facts) continue;
    await assertWhole(staging, { id }, name);
    knowing.push(id);
    if (known.state !== 'sent') await assertTold(staging, { id }, record, known);
  }
  const keepsLinks = await hasLinks(staging, name);
  if (knowing.length > 0 && !keepsLinks) return;
  // What was sent before decides: what is removed is only taken into account. Where there is nothing, it is the first.
  const access = orForget(name, resolveLedger);
  const { sharedDevices: _, ...any } = access;
  const ledger = (await findLedger(staging, any)) ?? (await openLedger(staging, access));
  await whileHeld(ledger.id, async () => {
    await assertWhole(staging, ledger, name);
    const releasing = await listReleasing(staging, await listMigrations(staging));
    const entering = { staging, ledger, releasing, now, signal, onMigration: () => {} };
    if (knowing.length === 0) await takeIn(record, print, entering);
    if (keepsLinks && !ledger.isForgotten) await keepLinks(record, entering);
  });
}

/**
 * Throws ConfigError where a ledger only noted a migration, and was not told what it sent at another one since: the turns
 * that say so are removed with it.
 */
async function assertTold(
  staging: Staging,
  ledger: Pick<Ledger, 'id'>,
  record: MigrationRecord,
  known: KnownFacts,
): Promise<void> {
  const releasing = await listReleasing(staging, await listMigrations(staging));
  const elsewhere = toElsewhereMark(await listSentElsewhere(staging, ledger, record, releasing));
  if (elsewhere === known.elsewhere) return;
  const { name } = record;
  throw new ConfigError(
    `persons of "${name}" were sent under another name or key of the project after another migration had taken them into account, so what is known there is behind. It is told when the next one runs with the same name or key as that one: run one, and remove "${name}" then; or remove it with --forget: then nothing is merged at that destination any more`,
  );
}

/** Throws ConfigError while another migration is about to send the persons of this one: it needs the facts. */
export async function assertNotReleased(staging: Staging, name: string): Promise<void> {
  for (const other of await listMigrations(staging)) {
    const record = await loadMigration(staging, other);
    if (!record?.releases?.includes(name)) continue;
    const state = (await loadControl(staging, other))?.state;
    if (state === 'finished' || state === 'cancelled' || state === 'removed') continue;
    throw new ConfigError(
      `migration "${other}" has begun to send the persons of "${name}" and has not finished: resume or cancel it first`,
    );
  }
}

/** What a ledger lost can be made again only while the facts are there. */
async function assertWhole(
  staging: Staging,
  ledger: Pick<Ledger, 'id'> & Partial<Ledger>,
  name: string,
): Promise<void> {
  const lost = await findLost(staging, ledger);
  if (lost === undefined) return;
  throw new ConfigError(
    `${staging.location} has lost ${lost}, by which Backhaul knows what was sent about persons. It is made again from the identity facts of all migrations when the next one to that destination runs, so "${name}" cannot be removed before. Run one; or remove it with --forget: then nothing is merged at that destination any more`,
  );
}

function orForget(name: string, resolveLedger: () => LedgerAccess): LedgerAccess {
  try {
    return resolveLedger();
  } catch (error) {
    throw new ConfigError(
      `${getMessage(error)}. The key tells which ledger keeps what "${name}" said about persons; with --forget it is not needed, and nothing is merged at that destination any more`,
      error,
    );
  }
}

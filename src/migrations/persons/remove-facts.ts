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
import {
  findAccess,
  listLedgersOfProject,
  listLedgersToBe,
  type ResolveOwnLedger,
} from './project/find-access.ts';
import { loadDestination } from './project/ledger-destination.ts';
import { listReleasing, listSentElsewhere, toElsewhereMark } from './project/sent-elsewhere.ts';
import { findLost } from './rebuild-ledger.ts';
import { takeIn } from './take-in.ts';

export interface RemoveFactsDeps {
  readonly staging: Staging;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Throws ConfigError where this process does not know the project key. */
  readonly resolveLedger: ResolveOwnLedger;
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
 * Makes sure that the ledgers of a project know the facts of a migration before they are removed, as far as this process
 * can open them: one that does not merges nothing any more. Where all know them already, and no vendor says in them who
 * is one person, the key is not asked for. Throws as removeFacts does, without having removed anything.
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
  const last = await loadLastLedger(staging, name);
  const resolve: ResolveOwnLedger = (by) => orForget(name, () => resolveLedger(by));
  const enterAt = async (
    access: LedgerAccess,
    { takesIn }: { readonly takesIn: boolean },
    keepsLinks = false,
  ) => {
    // What was sent before decides: what is removed is only taken into account. Where there is nothing, it is the first.
    const { sharedDevices: _, ...any } = access;
    const ledger = (await findLedger(staging, any)) ?? (await openLedger(staging, access));
    await whileHeld(ledger.id, async () => {
      await assertWhole(staging, ledger, name);
      const releasing = await listReleasing(staging, await listMigrations(staging));
      const entering = { staging, ledger, releasing, now, signal, onMigration: () => {} };
      if (takesIn) await takeIn(record, print, entering);
      if (keepsLinks && !ledger.isForgotten) await keepLinks(record, entering);
    });
  };

  let isKnown = false;
  for (const id of await listLedgersOfProject(staging, name)) {
    const known = await loadKnownFacts(staging, id, name);
    const knowsAll = known?.facts === print.facts;
    if (knowsAll) await assertWhole(staging, { id }, name);
    if (!knowsAll || !(await wasTold(staging, { id }, record, known))) {
      const access = await findAccess(staging, id, resolve);
      if (!access && knowsAll) throw explainBehind(name);
      // With a key that its project does not have any more, nobody sends.
      if (!access) continue;
      await enterAt(access, { takesIn: true });
    }
    isKnown = true;
  }
  for (const [id, sharedDevices] of await listLedgersToBe(staging, name)) {
    const access = await findAccess(staging, id, (by) => orUnknown(() => resolveLedger(by)));
    if (!access) continue;
    await enterAt({ ...access, sharedDevices }, { takesIn: true });
    isKnown ||= id === last?.ledger;
  }
  const keepsLinks = await hasLinks(staging, name);
  if (!isKnown || keepsLinks) await enterAt(resolve('project'), { takesIn: !isKnown }, keepsLinks);
}

/** Undefined where this process does not know the key. */
function orUnknown(resolveLedger: () => LedgerAccess): LedgerAccess | undefined {
  try {
    return resolveLedger();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Of what it sent at other ledgers since this one noted it: the turns that say so are removed with a migration. */
async function wasTold(
  staging: Staging,
  ledger: Pick<Ledger, 'id'>,
  record: MigrationRecord,
  known: KnownFacts,
): Promise<boolean> {
  if (known.state === 'sent') return true;
  const releasing = await listReleasing(staging, await listMigrations(staging));
  return toElsewhereMark(await listSentElsewhere(staging, ledger, record, releasing)) === known.elsewhere;
}

const explainBehind = (name: string): ConfigError =>
  new ConfigError(
    `persons of "${name}" were sent after a migration with another key of the project had taken them into account, so what is known under that key is behind. Run the command again with that key in the variable that the manifest of "${name}" names, also where it is not valid any more: nothing is sent. Or remove "${name}" with --forget: then nothing is merged at that destination any more`,
  );

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

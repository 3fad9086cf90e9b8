import type { Staging } from '../../../contract/staging.ts';
import { ConfigError } from '../../../lib/errors.ts';
import {
  isForgotten,
  type LedgerAccess,
  listLedgersOf,
  loadKnownFacts,
} from '../../../state/ledger/ledger.ts';
import { listMigrations, loadMigration, type MigrationRecord } from '../../../state/migrations.ts';
import { fingerprintFacts, hasFacts } from '../facts-of.ts';
import { areFactsRemoved, loadKnownAtRemoval, loadLastLedger } from '../facts-removed.ts';
import { isSameDestination, type LedgerDestination, loadDestination } from './ledger-destination.ts';
import { findSameProject, isProjectForgotten, type SameProject } from './same-project.ts';

type Own = Pick<LedgerAccess, 'id' | 'key'>;

/**
 * Throws ConfigError where what removed migrations said of persons is known at another ledger of the project: its name
 * is given for the first time, or left out. This ledger cannot be told any more, and would merge nothing from then on,
 * nor would the other one. Where nobody knows it, or no manifest leads there, nothing is thrown.
 */
export async function assertNotKnownElsewhere(
  staging: Staging,
  name: string,
  destination: LedgerDestination | undefined,
  own: Own | undefined,
): Promise<void> {
  if (!destination || !own) return;
  const names = await listMigrations(staging);
  let project: SameProject | undefined;
  const findProject = async () => (project ??= await findSameProject(staging, names, own, destination));
  let first: string | undefined;
  let knowing: readonly string[] = [];
  for (const other of names) {
    if (other === name || !(await areFactsRemoved(staging, other))) continue;
    const record = await loadMigration(staging, other);
    const its = record && (await loadDestination(staging, other));
    if (!its) continue;
    if (!isSameDestination(its, destination) && !(await findProject()).names.has(other)) continue;
    if (await isKnownAt(staging, own.id, record)) continue;
    const ledgers = await listKnowing(staging, record);
    knowing = first === undefined ? ledgers : knowing.filter((id) => ledgers.includes(id));
    first ??= other;
    if (knowing.length === 0) return;
  }
  if (first === undefined || (await isProjectForgotten(staging, names, own, destination))) return;
  const { ties } = await findProject();
  const named = await findNamed(staging, names, knowing);
  const advice = advise(destination, { name: first, named, isOwnKey: knowing.includes(own.key ?? ''), ties });
  if (advice === undefined) return;
  throw new ConfigError(
    `"${first}" was removed, and what it said of persons is remembered where "${name}" does not look. ${advice}`,
  );
}

async function isKnownAt(staging: Staging, ledger: string, record: MigrationRecord): Promise<boolean> {
  const known = await loadKnownFacts(staging, ledger, record.name);
  if (known?.facts === (await fingerprintFacts(staging, record)).facts) return true;
  return (
    (await loadKnownAtRemoval(staging, record.name, ledger)) !== undefined ||
    !(await hasFacts(staging, record.name))
  );
}

async function listKnowing(staging: Staging, { name }: MigrationRecord): Promise<string[]> {
  const found: string[] = [];
  for (const id of await listLedgersOf(staging, name))
    if ((await loadKnownAtRemoval(staging, name, id)) && !(await isForgotten(staging, id))) found.push(id);
  return found;
}

interface Named extends Pick<LedgerDestination, 'host' | 'service'> {
  readonly id: string;
  readonly project: string;
}

/** One of some ledgers that is of a name, and what a manifest of it says. */
async function findNamed(
  staging: Staging,
  names: readonly string[],
  ids: readonly string[],
): Promise<Named | undefined> {
  for (const name of names) {
    const { ledger, key = ledger } = (await loadLastLedger(staging, name)) ?? {};
    if (ledger === undefined || key === ledger || !ids.includes(ledger)) continue;
    const { project, host, service } = (await loadDestination(staging, name)) ?? {};
    if (project !== undefined) return { id: ledger, project, host, service };
  }
  return undefined;
}

interface Known {
  /** Removed. */
  readonly name: string;
  readonly named: Named | undefined;
  readonly isOwnKey: boolean;
  readonly ties: ReadonlySet<string>;
}

/** Undefined where no manifest leads to what is known. */
function advise(
  { project, host, apiKey }: LedgerDestination,
  { name, named, isOwnKey, ties }: Known,
): string | undefined {
  const orForget = `or give that up with "backhaul rm ${name} --forget": then nothing is merged in that project any more`;
  if (project !== undefined)
    return isOwnKey
      ? `It is known by the key alone: leave "project" out under destination and run it again; ${orForget}`
      : undefined;
  // That of a bundled API is nobody's choice: a new one comes with a new database.
  if (apiKey === undefined) return undefined;
  const orApart = `give its key in a variable of another name than ${apiKey} if it is another one`;
  if (!named)
    return `It is known by another key, which the same variable held. If that key was of the same project, write "project: <name>" under destination, with a name of your choice: then nothing is merged there, because nobody knows what was sent; ${orApart}`;
  const service = named.service ?? (named.host === host ? undefined : named.host);
  const lines = `"project: ${named.project}"${service === undefined ? '' : ` and "service: ${service}"`}`;
  return ties.has(named.id)
    ? `It is known by the name of the project: write ${lines} under destination and run it again; ${orForget}`
    : `It is known by the name of a project: write ${lines} under destination if it is the same one; ${orApart}`;
}

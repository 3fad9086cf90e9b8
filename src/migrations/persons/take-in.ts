import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { connectPersons } from '../../identity/connect/connect-persons.ts';
import { foldBuckets } from '../../identity/fold-buckets.ts';
import { ID_WIDTH } from '../../identity/merges/id-entry.ts';
import type { LedgerPurpose } from '../../identity/merges/merge-decision.ts';
import { PROPERTY_WIDTH } from '../../identity/property-entry.ts';
import { GROUP_EVENT } from '../../identity/property-filter.ts';
import { resolveBuckets } from '../../identity/resolve-buckets.ts';
import { countRefused, sentRange } from '../../identity/sent-range.ts';
import { ConfigError } from '../../lib/errors.ts';
import { BUCKETS } from '../../state/bucket.ts';
import { loadIfWhole } from '../../state/document.ts';
import { loadLatestEpoch } from '../../state/epochs.ts';
import { layout } from '../../state/keys/migration.ts';
import { parseRangeKey } from '../../state/keys/turn.ts';
import {
  type KnownFacts,
  type Ledger,
  listLedgersOf,
  loadKnownFacts,
  saveKnownFacts,
} from '../../state/ledger/ledger.ts';
import { createLedgerTables } from '../../state/ledger/ledger-tables.ts';
import { endTurn, openTurn } from '../../state/ledger/turns.ts';
import { hasVersions, loadRebuiltAt, saveFirstVersions, saveVersions } from '../../state/ledger/versions.ts';
import { clearStaging, listMigrations, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import {
  assertAllListed,
  assertKnownListed,
  countPlanned,
  type FactsPrint,
  findDamagedReceipt,
  fingerprintFacts,
  hasFacts,
  listFacts,
  listKnownFacts,
  listOtherFacts,
  toDamageOfAnother,
} from './facts-of.ts';
import { areFactsRemoved, loadKnownAtRemoval } from './facts-removed.ts';
import { findRemovedJoins, openEarlierIds } from './keep-links.ts';
import { atTurn } from './ledger-at-turn.ts';
import { findLostTurn } from './lost-turns.ts';
import {
  isSameDestination,
  type LedgerDestination,
  toLedgerDestination,
} from './project/ledger-destination.ts';
import { findSameProject, isProjectForgotten, type SameProject } from './project/same-project.ts';
import {
  listReleasing,
  listSentElsewhere,
  type Releasing,
  toElsewhereMark,
} from './project/sent-elsewhere.ts';
import { findEndedTurn, listReleases, listTurnsThatCount } from './turn.ts';

export interface TakeInOptions {
  readonly staging: Staging;
  readonly ledger: Ledger;
  readonly destination: LedgerDestination | undefined;
  /** Migrations whose facts are about to be resolved. */
  readonly except: ReadonlySet<string>;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly onMigration: (name: string) => void;
}

/**
 * Enters into a ledger what other migrations to the same destination say that it does not know yet: those that
 * are under way, hold their persons back or got new files since, and those that sent their persons without this
 * ledger, of which it counts as sent what they sent. The migration that is about to decide is then decided over all facts (I11).
 * `facts_are_gone`: the facts of one were removed before this ledger knew them, or what is known of the project was
 * dropped under another of its names or keys.
 */
export async function takeInOthers(options: TakeInOptions): Promise<'done' | 'facts_are_gone'> {
  const { staging, ledger, destination, except } = options;
  const names = await listMigrations(staging);
  if (destination && !ledger.isForgotten && (await isProjectForgotten(staging, names, ledger, destination)))
    return 'facts_are_gone';
  // Most send to the same destination, which their manifests say; the others cost a few requests each.
  let project: SameProject | undefined;
  let releasing: Releasing | undefined;
  /** What was only noted here may have been sent under another name or key of the project meanwhile. */
  const hasSentElsewhereSince = async (record: MigrationRecord, { state, elsewhere }: KnownFacts) => {
    if (state === 'sent') return false;
    releasing ??= await listReleasing(staging, names);
    return toElsewhereMark(await listSentElsewhere(staging, ledger, record, releasing)) !== elsewhere;
  };
  const planned = await countPlanned(staging, ledger.id);
  for (const name of names) {
    if (except.has(name)) continue;
    const record = await loadMigration(staging, name);
    const its = record && toLedgerDestination(record.opening.manifest);
    if (!record || !its || !destination) continue;
    if (!isSameDestination(its, destination)) {
      project ??= await findSameProject(staging, names, ledger, destination);
      if (!project.names.has(name)) continue;
    }
    const print = await fingerprintFacts(staging, record);
    const known = await loadKnownFacts(staging, ledger.id, name);
    options.signal.throwIfAborted();
    assertAllListed(staging, name, { listed: print.receipts, known: planned.get(record.id) ?? 0 });
    if (known?.facts === print.facts && !(await hasSentElsewhereSince(record, known))) continue;
    if (await areFactsRemoved(staging, name)) {
      const atRemoval = await loadKnownAtRemoval(staging, name, ledger.id);
      if (atRemoval) {
        // Its document may be lost or damaged; that there is one says what the ledger keeps of it.
        const { receipts } = atRemoval;
        if (!known)
          await saveKnownFacts(staging, ledger.id, record, { ...atRemoval, receipts: receipts?.count });
        continue;
      }
      await assertReceiptsWhole(staging, name);
      if (await hasFacts(staging, name)) return 'facts_are_gone';
      continue;
    }
    await assertKnownListed(staging, ledger.id, name, print.receipts);
    releasing ??= await listReleasing(staging, names);
    await takeIn(record, print, { ...options, releasing }).catch((error: unknown) => {
      throw toDamageOfAnother(error, name);
    });
  }
  return 'done';
}

/** Nothing is merged any more where facts were removed too early, so damage must not look like that. */
async function assertReceiptsWhole(staging: Staging, name: string): Promise<void> {
  const key = await findDamagedReceipt(staging, name);
  if (key === undefined) return;
  throw new ConfigError(
    `${staging.location}: ${key} is damaged, and the identity facts of "${name}" were removed, so nobody knows whether all that it said of persons is known at this destination. Restore that object and resume; or run "backhaul rm ${name} --forget" and resume: then nothing is merged at this destination any more`,
  );
}

export async function takeIn(
  { id, name, opening }: MigrationRecord,
  { facts, receipts }: FactsPrint,
  {
    staging,
    ledger,
    releasing,
    now,
    signal,
    onMigration,
  }: Omit<TakeInOptions, 'destination' | 'except'> & { readonly releasing: Releasing },
): Promise<void> {
  const elsewhere = await listSentElsewhere(staging, ledger, { id, name }, releasing);
  const sent = await findSent(staging, ledger, { id, name }, { facts, elsewhere });
  const source = { staging, from: 0, to: BUCKETS, signal };
  onMigration(name);
  const document = { migration: id, name, at: now().toISOString() };
  await beginVersions(staging, ledger);
  const above = Math.max(0, (await loadRebuiltAt(staging, ledger.id)) - 1);
  const turn = await openTurn(staging, ledger.id, document, { after: above });
  await saveVersions(staging, ledger);
  const work = layout(name).atTurn(turn);
  // What it sent was decided by its own facts; what follows from others beside them was not.
  if (sent !== 'nothing') await enter('take_in');
  await enter('note');
  await clearStaging(staging, work.prefix);
  await saveVersions(staging, ledger);
  // What was only begun to be sent may have to be sent again: its turn never ends.
  if (sent !== 'something') await endTurn(staging, ledger.id, turn);
  const state = sent === 'all' ? 'sent' : 'noted';
  const mark = toElsewhereMark(elsewhere);
  await saveKnownFacts(staging, ledger.id, { id, name }, { facts, state, receipts, elsewhere: mark });

  async function enter(purpose: LedgerPurpose): Promise<void> {
    const taken = await atTurn(ledger, staging, turn, purpose);
    // What it sent was decided by its own manifest.
    const decidedBy = (await loadLatestEpoch(staging, { id, name }))?.manifest ?? opening.manifest;
    const at = purpose === 'take_in' ? { ...taken, sharedDevices: readSharedDevices(decidedBy) } : taken;
    const tables = createLedgerTables(staging, ledger.id, 'ids', ID_WIDTH);
    const prefix = work.factsBy(purpose);
    const connected = await connectPersons({
      staging,
      prefix,
      listFacts: () => listFacts(staging, [name], [receipts]),
      ...(purpose === 'note' ? { listKnown: () => listOtherFacts(staging, ledger.id, [name]) } : {}),
      earlierIds: openEarlierIds(staging, ledger),
      removedJoins: purpose === 'note' ? () => findRemovedJoins(staging, ledger) : undefined,
      ledger: at,
      tables,
      signal,
    });
    const resolved = await resolveBuckets({
      ...source,
      prefix,
      facts: listFacts(staging, [name], [receipts]),
      connected,
      ledger: at,
      tables,
      sent: isOverwriting(opening.manifest)
        ? {
            facts: () => listKnownFacts(staging, ledger.id, [name]),
            tables: createLedgerTables(staging, ledger.id, 'properties', PROPERTY_WIDTH),
          }
        : undefined,
    });
    if (purpose === 'take_in') {
      const chunks = foldBuckets({
        ...source,
        facts: resolved.facts,
        ledger: at,
        tables: createLedgerTables(staging, ledger.id, 'properties', PROPERTY_WIDTH),
        overwrite: isOverwriting(opening.manifest),
        groupIdentifyEvent: readPeople(opening.manifest)?.groupIdentifyEvent ?? GROUP_EVENT,
      });
      for await (const _ of chunks) signal.throwIfAborted();
    }
  }
}

/**
 * Of a new ledger the first turn is above those of one that was lost as a whole. Noted before it is opened: a ledger that
 * has a turn and no versions is one that lost them, and whoever is killed in between leaves none.
 */
async function beginVersions(staging: Staging, ledger: Ledger): Promise<void> {
  if (await hasVersions(staging, ledger.id)) return;
  const lost = (await findLostTurn(staging, ledger.id))?.turn ?? 0;
  await saveFirstVersions(staging, ledger, lost + 1);
}

/**
 * What a migration has sent of these facts that the ledger does not know as sent. `something`: perhaps all of it,
 * perhaps nothing, or to another project. It forbids what contradicts it, and is sent again where it belongs to
 * what somebody sends.
 */
export async function findSent(
  staging: Staging,
  ledger: Ledger,
  { name }: Pick<MigrationRecord, 'id' | 'name'>,
  { facts, elsewhere }: { readonly facts: string; readonly elsewhere: ReadonlySet<string> },
): Promise<'all' | 'something' | 'nothing'> {
  // Each of its turns here has entered what it sent; of what came since then, nothing was sent but elsewhere.
  const known = await loadKnownFacts(staging, ledger.id, name);
  if (known) return toElsewhereMark(elsewhere) === known.elsewhere ? 'nothing' : 'something';
  // A damaged document of this ledger says nothing.
  const knowing = (await listLedgersOf(staging, name)).filter((id) => id !== ledger.id);
  const keys = layout(name);
  const turns: (string | undefined)[] = [];
  let wasRefused = false;
  for (const turn of await listTurnsThatCount(staging, name)) {
    const ended = await findEndedTurn(staging, name, turn);
    if (ended?.purpose === 'note') continue;
    // What is damaged may have been sent.
    turns.push(ended?.facts);
    wasRefused ||= !ended || countRefused(ended.result) > 0;
  }
  for (const release of await listReleases(staging, name, loadIfWhole)) {
    turns.push(release?.facts);
    const ended = release && (await findEndedTurn(staging, release.by, release.turn));
    wasRefused ||= ended !== undefined && countRefused(ended.result) > 0;
  }
  // The same variable may have held the key of another project, whose ledger knows what went there.
  if (turns.length > 0)
    return knowing.length === 0 && turns.includes(facts) && !wasRefused ? 'all' : 'something';
  // At the ledger that an earlier version had for the project, for example, or before this one was lost.
  if (elsewhere.size > 0) return 'something';
  // Version 0.1.0 kept receipts of ranges of buckets.
  let folded = 0;
  for await (const { key } of staging.list(keys.folded)) {
    const range = parseRangeKey(key);
    if (!range) continue;
    folded += range.to - range.from;
    const sent = await loadIfWhole(sentRange, key, staging);
    wasRefused ||= sent === undefined || countRefused(sent) > 0;
  }
  if (folded === 0) return 'nothing';
  return folded === BUCKETS && !wasRefused ? 'all' : 'something';
}

const readPeople = (manifest: unknown) =>
  (manifest as { readonly people?: Partial<Manifest['people']> } | undefined)?.people;
const isOverwriting = (manifest: unknown) => readPeople(manifest)?.overwrite === true;
export const readSharedDevices = (manifest: unknown) => readPeople(manifest)?.sharedDevices ?? 'none';

import type { Staging } from '../../contract/staging.ts';
import { connectPersons } from '../../identity/connect/connect-persons.ts';
import { EARLIER_ID_WIDTH } from '../../identity/connect/earlier-ids.ts';
import { JOINED_WIDTH } from '../../identity/connect/removed-joins.ts';
import { ID_WIDTH } from '../../identity/merges/id-entry.ts';
import { resolveBuckets } from '../../identity/resolve-buckets.ts';
import { BUCKETS } from '../../state/bucket.ts';
import { MEMBER_BUCKETS } from '../../state/facts/fact-line.ts';
import { layout } from '../../state/keys/migration.ts';
import { type Ledger, listKnownMigrations } from '../../state/ledger/ledger.ts';
import {
  createLedgerTables,
  type LedgerTables,
  type StoredTables,
} from '../../state/ledger/ledger-tables.ts';
import { endTurn, openTurn } from '../../state/ledger/turns.ts';
import { saveVersions } from '../../state/ledger/versions.ts';
import { clearStaging, loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { listFacts, listOtherFacts } from './facts-of.ts';
import { areFactsRemoved } from './facts-removed.ts';
import { atTurn } from './ledger-at-turn.ts';

/** Whether a vendor says in them who is one person. */
export async function hasLinks(staging: Staging, name: string): Promise<boolean> {
  for await (const { sections } of listFacts(staging, [name]))
    if (sections.some(({ bucket }) => bucket >= MEMBER_BUCKETS.from)) return true;
  return false;
}

/**
 * Before the facts of a migration are removed: enters into the ledger what they say of a vendor's persons beside what
 * was decided by it, so that a later migration merges nothing that they would forbid (I11). May be repeated.
 */
export async function keepLinks(
  { id, name }: Pick<MigrationRecord, 'id' | 'name'>,
  {
    staging,
    ledger,
    now,
    signal,
  }: {
    readonly staging: Staging;
    readonly ledger: Ledger;
    readonly now: () => Date;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const turn = await openTurn(staging, ledger.id, { migration: id, name, at: now().toISOString() });
  await saveVersions(staging, ledger);
  const work = layout(name).atTurn(turn);
  const at = await atTurn(ledger, staging, turn, 'note');
  const tables = createLedgerTables(staging, ledger.id, 'ids', ID_WIDTH);
  const prefix = work.factsBy('keep');
  const connected = await connectPersons({
    staging,
    prefix,
    listFacts: () => listFacts(staging, [name]),
    listKnown: () => listOtherFacts(staging, ledger.id, [name]),
    isRemoving: true,
    earlierIds: openEarlierIds(staging, ledger),
    removedJoins: async () => openRemovedJoins(staging, ledger),
    ledger: at,
    tables,
    signal,
  });
  const all = { staging, prefix, from: 0, to: BUCKETS, ledger: at, tables, signal };
  await resolveBuckets({ ...all, facts: [], connected });
  await clearStaging(staging, work.prefix);
  await saveVersions(staging, ledger);
  await endTurn(staging, ledger.id, turn);
}

/**
 * What the ledger keeps of joins in facts that were removed; undefined where none were. A migration that is gone as a
 * whole may have been removed before.
 */
export async function findRemovedJoins(
  staging: Staging,
  ledger: Pick<Ledger, 'id'>,
): Promise<LedgerTables | undefined> {
  for (const name of await listKnownMigrations(staging, ledger.id))
    if ((await areFactsRemoved(staging, name)) || !(await loadMigration(staging, name)))
      return openRemovedJoins(staging, ledger);
  return undefined;
}

/** What the ledger knows of ids that got another one. */
export const openEarlierIds = (staging: Staging, { id }: Pick<Ledger, 'id'>): StoredTables =>
  createLedgerTables(staging, id, 'earlier', EARLIER_ID_WIDTH);

const openRemovedJoins = (staging: Staging, { id }: Pick<Ledger, 'id'>): LedgerTables =>
  createLedgerTables(staging, id, 'joined', JOINED_WIDTH);

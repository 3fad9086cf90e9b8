import { type Connected, connectPersons } from '../../../identity/connect/connect-persons.ts';
import { ID_WIDTH } from '../../../identity/merges/id-entry.ts';
import { BUCKETS } from '../../../state/bucket.ts';
import { encodeDocument } from '../../../state/document.ts';
import { MEMBER_BUCKETS } from '../../../state/facts/fact-line.ts';
import { layout } from '../../../state/keys/migration.ts';
import { toRangeKey } from '../../../state/keys/turn.ts';
import type { Ledger } from '../../../state/ledger/ledger.ts';
import { createLedgerTables } from '../../../state/ledger/ledger-tables.ts';
import { haveSaidAll, listFacts, listOtherFacts } from '../../persons/facts-of.ts';
import { findRemovedJoins, openEarlierIds } from '../../persons/keep-links.ts';
import { atTurn } from '../../persons/ledger-at-turn.ts';
import type { TurnPlan } from '../../persons/turn.ts';
import type { PersonsRun } from './persons-run.ts';

/** What the vendor says of persons, as pairs, before the ids of all ranges are resolved by them. */
export async function connectTurn(
  { staging, record, epoch, schedulerDeps: { signal } }: PersonsRun,
  ledger: Ledger,
  turn: number,
  { of, purpose, receipts }: TurnPlan,
): Promise<void> {
  const keys = layout(record.name).atTurn(turn);
  const key = toRangeKey(keys.connected, MEMBER_BUCKETS);
  if (await staging.get(key)) return;
  const tables = createLedgerTables(staging, ledger.id, 'ids', ID_WIDTH);
  const earlierIds = openEarlierIds(staging, ledger);
  const connected = await connectPersons({
    staging,
    prefix: keys.factsBy(`${epoch}-connected`),
    listFacts: () => listFacts(staging, of, receipts),
    listKnown: () => listOtherFacts(staging, ledger.id, of),
    isAll: await haveSaidAll(staging, ledger.id, of),
    removedJoins: () => findRemovedJoins(staging, ledger),
    earlierIds,
    ledger: await atTurn(ledger, staging, turn, purpose),
    tables,
    signal,
  });
  const noting: Connected = {
    ...connected,
    versions: tables.listVersions(0, BUCKETS),
    earlierIds: earlierIds.listVersions(0, BUCKETS),
  };
  await staging.create(key, encodeDocument(noting));
}

import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Staging } from '../../contract/staging.ts';
import { connected } from '../../identity/connect/connect-persons.ts';
import { foldBuckets } from '../../identity/fold-buckets.ts';
import type { BucketRange } from '../../identity/load-folds.ts';
import { ID_WIDTH } from '../../identity/merges/id-entry.ts';
import { listMerges } from '../../identity/merges/list-merges.ts';
import { PROPERTY_WIDTH } from '../../identity/property-entry.ts';
import { type ResolvedRange, resolveBuckets, resolvedRange } from '../../identity/resolve-buckets.ts';
import { type SentChunk, sendCheckpoint, sendChunks } from '../../identity/send-chunks.ts';
import type { SentRange } from '../../identity/sent-range.ts';
import { SourceError } from '../../lib/errors.ts';
import { encodeDocument, listDocuments, loadDocument } from '../../state/document.ts';
import { MEMBER_BUCKETS } from '../../state/facts/fact-line.ts';
import { layout } from '../../state/keys/migration.ts';
import { type SendStep, toRangeKey } from '../../state/keys/turn.ts';
import { createLedgerTables } from '../../state/ledger/ledger-tables.ts';
import type { OpenMigration } from '../open-migrations.ts';
import { loadAttempts } from './attempts.ts';
import { listFacts, listKnownFacts } from './facts-of.ts';
import { openEarlierIds } from './keep-links.ts';
import { openLedgerAtTurn } from './ledger-at-turn.ts';
import { assertHasLedger, createLedgerCondition } from './lock/ledger-condition.ts';
import { saveRefused } from './refused-records.ts';
import { loadTurnPlan } from './turn.ts';

/** One range of buckets in one turn of a migration. */
export interface RangeWork extends BucketRange {
  readonly migration: OpenMigration;
  readonly turn: number;
}

export interface RangeDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly signal: AbortSignal;
  readonly onProgress: (eventsSent: number) => void;
}

/** Decides which ids of a range belong together, and enters it into the ledger. */
export async function resolveRange(work: RangeWork, deps: RangeDeps): Promise<void> {
  const { staging, signal } = deps;
  const { from, to, migration } = work;
  const { plan, ledger, keys } = await openRange(work, deps);
  const tables = createLedgerTables(staging, ledger.id, 'ids', ID_WIDTH);
  const resolved = await resolveBuckets({
    staging,
    // A folder per writer: the receipt of the range names the objects that count (I5).
    prefix: keys.factsBy(`${migration.epoch}-${randomUUID()}`),
    facts: listFacts(staging, plan.of, plan.receipts),
    connected: await loadDocument(connected, toRangeKey(keys.connected, MEMBER_BUCKETS), staging),
    ledger,
    tables,
    earlierIds: openEarlierIds(staging, ledger),
    sent: migration.settings.overwritePeople
      ? {
          facts: () => listKnownFacts(staging, ledger.id, plan.of),
          tables: createLedgerTables(staging, ledger.id, 'properties', PROPERTY_WIDTH),
        }
      : undefined,
    from,
    to,
    signal,
  });
  const noting: ResolvedRange = { ...resolved, versions: tables.listVersions(from, to) };
  await staging.create(toRangeKey(keys.resolved, { from, to }), encodeDocument(noting));
}

/** Sends the accepted merges of a range. */
export async function mergeRange(work: RangeWork, deps: RangeDeps): Promise<void> {
  const { staging } = deps;
  const { keys, ledger } = await openRange(work, deps);
  const key = toRangeKey(keys.resolved, work);
  const resolved = await loadDocument(resolvedRange, key, staging);
  if (!resolved) throw new SourceError(`${staging.location}: ${key} is missing; run the migration again`);
  const chunkEvents = work.migration.settings.batch.events;
  const contradicted = await loadContradicted(staging, keys.resolved);
  const isContradicted = (userId: string) =>
    contradicted.size > 0 && contradicted.has(ledger.hash.id(userId).toString('hex'));
  await sendRange(work, deps, 'merged', (after) =>
    listMerges(staging, resolved.merges, { after, chunkEvents, hashId: ledger.hash.id, isContradicted }),
  );
}

/** Sends the properties of the persons and groups of a range; every range must be resolved before. */
export async function foldRange(work: RangeWork, deps: RangeDeps): Promise<void> {
  const { staging, signal } = deps;
  const { from, to, migration } = work;
  const { settings } = migration;
  const { ledger, keys } = await openRange(work, deps);
  const contradicted = await loadContradicted(staging, keys.resolved);
  const tables = createLedgerTables(staging, ledger.id, 'properties', PROPERTY_WIDTH);
  const listChunks = (after: string | undefined) =>
    foldBuckets({
      staging,
      facts: listResolvedFacts(staging, keys.resolved),
      ledger,
      tables,
      contradicted,
      overwrite: settings.overwritePeople,
      groupIdentifyEvent: settings.groupIdentifyEvent,
      batch: settings.batch,
      after,
      from,
      to,
      signal,
    });
  await sendRange(work, deps, 'folded', listChunks, () => ({ versions: tables.listVersions(from, to) }));
}

async function openRange({ migration, turn }: RangeWork, { staging, redis }: RangeDeps) {
  const { record, settings } = migration;
  const plan = await loadTurnPlan(staging, record.name, turn);
  if (!plan) throw new SourceError(`${staging.location} holds no turn ${turn} of ${record.name}`);
  const ledger = await openLedgerAtTurn(staging, settings.ledger, turn, plan.purpose);
  if (plan.hashes !== undefined && plan.hashes !== ledger.hashes)
    throw new SourceError(
      `what was known of persons at this destination was forgotten while "${record.name}" sent its own. "backhaul resume ${record.name}" continues, and merges nothing any more`,
    );
  await assertHasLedger(redis, settings.ledger, { migration: record.id, turn });
  return { plan, ledger, keys: layout(record.name).atTurn(turn) };
}

/** Sends from the last checkpoint on, and creates the receipt of the range. */
async function sendRange(
  { migration, turn, from, to }: RangeWork,
  { staging, redis, signal, onProgress }: RangeDeps,
  step: SendStep,
  listChunks: (after: string | undefined) => AsyncIterable<SentChunk>,
  note: () => Pick<SentRange, 'versions'> = () => ({}),
): Promise<void> {
  const { record, settings } = migration;
  const keys = layout(record.name).atTurn(turn);
  const attempt = (await loadAttempts(staging, keys))(step, { from, to });
  const checkpointKey = toRangeKey(keys.checkpoints(step), { from, to }, attempt);
  const before = await loadDocument(sendCheckpoint, checkpointKey, staging);
  const condition = createLedgerCondition(redis, settings.ledger, {
    migration: record.id,
    name: record.name,
    turn,
  });
  let noted = JSON.stringify(before?.versions);
  const sent = await sendChunks(
    listChunks(before?.position),
    before,
    {
      limits: settings.batch,
      stamp: settings.stamp,
      deliver: (batch, within) => migration.deliver(batch, within, condition),
      onProgress,
      // Whoever wrote it in this attempt, it says what was answered: a late one makes its range send more, never less.
      save: async (checkpoint) => {
        const noting = note();
        await staging.put(checkpointKey, encodeDocument({ ...checkpoint, ...noting }));
        noted = JSON.stringify(noting.versions);
      },
      isUnnoted: () => JSON.stringify(note().versions) !== noted,
      saveRefused: (records) =>
        saveRefused(staging, keys.refusedBy(step, { from, to }, randomUUID()), records),
    },
    signal,
  );
  await staging.create(toRangeKey(keys[step], { from, to }, attempt), encodeDocument({ ...sent, ...note() }));
}

/** A merge and its user are decided in different ranges, so every range must be resolved. */
async function loadContradicted(staging: Staging, folder: string): Promise<ReadonlySet<string>> {
  const all = new Set<string>();
  for await (const { contradicted = [] } of listDocuments(staging, folder, (key) =>
    loadDocument(resolvedRange, key, staging),
  )) {
    for (const of of contradicted) all.add(of);
  }
  return all;
}

async function* listResolvedFacts(staging: Staging, folder: string) {
  for await (const { facts } of listDocuments(staging, folder, (key) =>
    loadDocument(resolvedRange, key, staging),
  ))
    yield* facts;
}

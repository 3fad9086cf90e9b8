import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadIfWhole } from '../document.ts';
import { type LedgerTable, ledgerLayout } from '../keys/ledger.ts';
import { parseNumberedKey } from '../keys/migration.ts';
import { clearStaging } from '../migrations.ts';
import { findNewestNumber } from '../numbered.ts';
import { createSame } from '../staging/create-same.ts';
import type { Ledger } from './ledger.ts';
import { type BucketVersions, clearLedgerTable, loadVersions } from './ledger-tables.ts';
import { loadTurns } from './turns.ts';

/*
 * A bucket that is gone looks like one that was never saved, and its older version like the latest: both would
 * allow merges that were found to be wrong. So the versions of all buckets are noted when a turn is opened, at the
 * end of each of its steps, and, by bucket range, in the receipts and checkpoints of a turn that has not ended.
 * A ledger without any such document is new only where it has nothing else.
 */

const LEDGER_TABLES = ['ids', 'properties', 'joined', 'earlier'] as const satisfies readonly LedgerTable[];

/** By bucket. */
export const bucketVersions = z.record(z.string(), z.number().int().positive());
const versionsDocument = z.strictObject({
  /** Digest of the key of the hashes: with another key nothing that was saved is found again. */
  key: z.string(),
  ids: bucketVersions,
  properties: bucketVersions,
  joined: bucketVersions.exactOptional(),
  earlier: bucketVersions.exactOptional(),
  /** The last turn that was opened: the tables name turns, so a number must not be given twice. */
  turn: z.number().int().nonnegative().optional(),
  /** The turn in which the ledger was made again the last time; it knows nothing of those before. */
  rebuiltAt: z.number().int().positive().optional(),
});
const emptiedDocument = z.strictObject({
  emptied: z.literal(true),
  /** Random: whoever empties it knows its own document again where the answer was lost. */
  by: z.string().exactOptional(),
});
/** `emptied`: the ledger is being made again, so nothing of what was noted before is expected. */
const anyDocument = z.union([versionsDocument, emptiedDocument]);
type Versions = z.infer<typeof versionsDocument>;

/** What is there, each created once, so that a writer that slept lowers nothing (I5). */
interface Noted {
  /** 0 before the first. */
  readonly number: number;
  /** Undefined where the newest is damaged, or there is none. */
  readonly newest: z.infer<typeof anyDocument> | undefined;
  readonly key: string;
}

async function loadNoted(staging: Staging, id: string): Promise<Noted> {
  const keys = ledgerLayout(id);
  let before = 0;
  for (;;) {
    const number = await findNewestNumber(staging, keys.allVersions);
    if (number === 0) return { number, newest: undefined, key: keys.allVersions };
    const key = keys.versions(number);
    const newest = await loadIfWhole(anyDocument, key, staging);
    // A newer one may have come meanwhile, and this one have been removed.
    if (newest || number === before) return { number, newest, key };
    before = number;
  }
}

/** What a receipt or a checkpoint of a turn says of a table. */
export interface NotedVersions {
  readonly table: LedgerTable;
  readonly versions: BucketVersions;
}

/** By which one key of the hashes is told from another one. */
export const digestKey = ({ hashKey }: Pick<Ledger, 'hashKey'>) =>
  createHash('sha256').update(hashKey).digest('hex');

/**
 * To be called by the holder of the ledger once it has opened a turn, and before the turn sends or ends. `noted`: by
 * the turns that have not ended. What was noted before stays: what is lost meanwhile is missed the next time.
 */
export async function saveVersions(
  staging: Staging,
  ledger: Ledger,
  noted: readonly NotedVersions[] = [],
): Promise<void> {
  for (;;) {
    const { number, newest } = await loadNoted(staging, ledger.id);
    // Whoever emptied the ledger makes it again; what another process found before that counts no more.
    if (newest && 'emptied' in newest) return;
    const versions = await listVersions(staging, ledger, newest, noted);
    // What migrations have of turns before the first one is of a ledger that was lost as a whole.
    if (number === 0 && versions.turn > 0) versions.rebuiltAt = versions.turn;
    if (await addVersions(staging, ledger.id, number, versions)) return;
  }
}

/** The first versions of a ledger that was emptied, once the turn is open in which it is made again. */
export async function saveFirstVersions(staging: Staging, ledger: Ledger, rebuiltAt: number): Promise<void> {
  for (;;) {
    const { number } = await loadNoted(staging, ledger.id);
    const versions = { ...(await listVersions(staging, ledger, undefined, [])), rebuiltAt };
    if (await addVersions(staging, ledger.id, number, versions)) return;
  }
}

/** The turn in which the ledger was made again the last time; 0: never. */
export async function loadRebuiltAt(staging: Staging, id: string): Promise<number> {
  const { newest } = await loadNoted(staging, id);
  return newest && 'key' in newest ? (newest.rebuiltAt ?? 0) : 0;
}

async function listVersions(
  staging: Staging,
  ledger: Ledger,
  before: Versions | undefined,
  noted: readonly NotedVersions[],
): Promise<Versions & { turn: number }> {
  const keys = ledgerLayout(ledger.id);
  const load = async (table: LedgerTable) => {
    const versions = Object.fromEntries(await loadVersions(staging, keys.table(table)));
    for (const one of [before?.[table] ?? {}, ...listNoted(noted, table)]) raise(versions, one);
    return versions;
  };
  const { last } = await loadTurns(staging, ledger.id);
  const joined = await load('joined');
  const earlier = await load('earlier');
  return {
    key: digestKey(ledger),
    ids: await load('ids'),
    properties: await load('properties'),
    ...(Object.keys(joined).length === 0 ? {} : { joined }),
    ...(Object.keys(earlier).length === 0 ? {} : { earlier }),
    turn: Math.max(last, before?.turn ?? 0),
    ...(before?.rebuiltAt === undefined ? {} : { rebuiltAt: before.rebuiltAt }),
  };
}

/** False where somebody else has written meanwhile. */
async function addVersions(
  staging: Staging,
  id: string,
  number: number,
  document: z.infer<typeof anyDocument>,
): Promise<boolean> {
  const keys = ledgerLayout(id);
  if (!(await createSame(staging, keys.versions(number + 1), encodeDocument(document)))) return false;
  // Earlier ones go at once: where the newest is lost, a lower one must not be taken for it.
  for await (const { key } of staging.list(keys.allVersions))
    if ((parseNumberedKey(key) ?? number + 1) <= number) await staging.remove(key);
  return true;
}

const listNoted = (noted: readonly NotedVersions[], table: LedgerTable) =>
  noted.filter((one) => one.table === table).map(({ versions }) => versions);

function raise(versions: Record<string, number>, by: BucketVersions): void {
  for (const [bucket, version] of Object.entries(by))
    versions[bucket] = Math.max(version, versions[bucket] ?? 0);
}

/**
 * The first thing found missing, for the operator; undefined where all is there. `noted`: as for saveVersions. A
 * caller that does not know the key of the hashes passes the id alone.
 */
export async function findLostVersion(
  staging: Staging,
  ledger: Pick<Ledger, 'id'> & Partial<Pick<Ledger, 'hashKey'>>,
  noted: readonly NotedVersions[] = [],
): Promise<string | undefined> {
  const { id, hashKey } = ledger;
  const keys = ledgerLayout(id);
  const { number, newest: expected, key } = await loadNoted(staging, id);
  if (number === 0) return (await hasMoreThanDocument(staging, id)) ? key : undefined;
  if (!expected || 'emptied' in expected) return key;
  if (hashKey === undefined ? !(await staging.get(keys.document)) : expected.key !== digestKey({ hashKey }))
    return keys.document;
  for (const table of LEDGER_TABLES) {
    const found = await loadVersions(staging, keys.table(table));
    const wanted = { ...expected[table] };
    for (const one of listNoted(noted, table)) raise(wanted, one);
    for (const [bucket, version] of Object.entries(wanted)) {
      if ((found.get(Number(bucket)) ?? 0) < version) return keys.version(table, Number(bucket), version);
    }
  }
  const { turn = 0 } = expected;
  return (await loadTurns(staging, id)).last < turn ? keys.turn(turn) : undefined;
}

export const hasVersions = async (staging: Staging, id: string): Promise<boolean> =>
  (await loadVersionsNumber(staging, id)) > 0;

/** Whether anything was ever done at a ledger. */
async function hasMoreThanDocument(staging: Staging, id: string): Promise<boolean> {
  const keys = ledgerLayout(id);
  for (const folder of [keys.knownFacts, keys.turns, keys.endedTurns, ...LEDGER_TABLES.map(keys.table)])
    for await (const { key } of staging.list(folder)) if (isOwnKey(key)) return true;
  return false;
}

/** What people and operating systems leave in folders says nothing. */
const isOwnKey = (key: string) => !key.startsWith('.', key.lastIndexOf('/') + 1);

/** Number of the newest document; 0 before the first. Whoever has a turn at the ledger adds one. */
export const loadVersionsNumber = async (staging: Staging, id: string): Promise<number> =>
  (await loadNoted(staging, id)).number;

/**
 * Removes all that the ledger knows, so that it is made again from the migrations; numbers of turns stay. `number`: of
 * the newest document when it was found out that something was lost. Where there is a newer one, somebody had a turn
 * meanwhile: nothing is removed, and false is returned.
 */
export async function clearLedger(staging: Staging, id: string, number: number): Promise<boolean> {
  const keys = ledgerLayout(id);
  // First: from here on nothing of the rest is believed, and a sleeper that found a loss long ago removes nothing.
  if (!(await addVersions(staging, id, number, { emptied: true, by: randomUUID() }))) return false;
  const isStillOurs = async () => (await loadVersionsNumber(staging, id)) === number + 1;
  await clearStaging(staging, keys.knownFacts);
  for (const table of LEDGER_TABLES) await clearLedgerTable(staging, id, table, isStillOurs);
  return true;
}

import { createHash } from 'node:crypto';
import type { Staging } from '../../contract/staging.ts';
import { createPace, type Pace } from '../../lib/async/pace.ts';
import { FencedOutError, SourceError } from '../../lib/errors.ts';
import { type LedgerTable, ledgerLayout, parseVersionKey } from '../keys/ledger.ts';
import { recoveryHint } from '../recovery-hint.ts';
import { createSame } from '../staging/create-same.ts';
import { RecordTable } from './record-table.ts';

/** The buckets of one table of a ledger. */
export interface LedgerTables {
  /** A new table for each bucket that was never saved. */
  load(buckets: Iterable<number>): Promise<Map<number, RecordTable>>;
  /**
   * Saves those that were changed, each as the version after the one that was loaded. Throws FencedOutError
   * when somebody else has saved other records as that version: the tables must be loaded and changed again.
   */
  save(tables: ReadonlyMap<number, RecordTable>): Promise<void>;
}

/** Version of each of some buckets. */
export type BucketVersions = Readonly<Record<string, number>>;

/** Tables whose versions are kept. */
export interface StoredTables extends LedgerTables {
  /** Of the buckets from `from` up to, but not including, `to`, as loaded and saved; none before the first load. */
  listVersions(from: number, to: number): BucketVersions;
}

const AT_ONCE = 8;

/**
 * Every version of a bucket is an object of its own, created with If-None-Match: a writer that lost the ledger's
 * lock without noticing cannot overwrite what the next one wrote.
 */
export function createLedgerTables(
  staging: Staging,
  ledger: string,
  table: LedgerTable,
  width: number,
  pace: Pace = createPace(),
): StoredTables {
  const keys = ledgerLayout(ledger);
  let versions: Map<number, number> | undefined;

  const loadOne = async (bucket: number, version: number) => {
    if (version === 0) return new RecordTable(width);
    const key = keys.version(table, bucket, version);
    const body = await staging.get(key);
    if (!body) throw new FencedOutError(`${key} was superseded while it was read`);
    return RecordTable.decode(width, unwrap(body, width, key, staging), pace);
  };

  return {
    async load(buckets) {
      versions ??= await loadVersions(staging, keys.table(table));
      const loaded = new Map<number, RecordTable>();
      const current = versions;
      await inBlocks([...buckets], async (bucket) => {
        loaded.set(bucket, await loadOne(bucket, current.get(bucket) ?? 0));
      });
      return loaded;
    },
    async save(tables) {
      const changed = [...tables].filter(([, { changed }]) => changed);
      await inBlocks(changed, async ([bucket, records]) => {
        const version = (versions?.get(bucket) ?? 0) + 1;
        const key = keys.version(table, bucket, version);
        // The same records of another process are of the same turn, or say nothing of a turn.
        if (!(await createSame(staging, key, wrap(await records.encode(pace), width)))) {
          versions = undefined;
          throw writtenByAnother(key);
        }
        records.changed = false;
        versions?.set(bucket, version);
        // The version before stays: it is what to go back to where this one is damaged.
        if (version > 2) await staging.remove(keys.version(table, bucket, version - 2));
      });
    },
    listVersions: (from, to) =>
      Object.fromEntries([...(versions ?? [])].filter(([bucket]) => bucket >= from && bucket < to)),
  };
}

/** Tables whose changes are kept nowhere: of a ledger that knows nothing, or what `before` has. */
export function createMemoryTables(width: number, before?: Pick<LedgerTables, 'load'>): LedgerTables {
  const all = new Map<number, RecordTable>();
  return {
    async load(buckets) {
      const wanted = [...buckets];
      const known = await before?.load(wanted.filter((bucket) => !all.has(bucket)));
      return new Map(
        wanted.map((bucket) => {
          const table = all.get(bucket) ?? known?.get(bucket) ?? new RecordTable(width);
          all.set(bucket, table);
          return [bucket, table] as const;
        }),
      );
    },
    async save() {},
  };
}

/** Version of each bucket of a table that was ever saved. */
export async function loadVersions(staging: Staging, prefix: string): Promise<Map<number, number>> {
  const versions = new Map<number, number>();
  for await (const { key } of staging.list(prefix)) {
    const parsed = parseVersionKey(key);
    if (!parsed) continue;
    const { bucket, version } = parsed;
    versions.set(bucket, Math.max(version, versions.get(bucket) ?? 0));
  }
  return versions;
}

const writtenByAnother = (key: string) =>
  new FencedOutError(
    `another process decides about persons of the same project (it wrote ${key}): resume this migration when that one has ended; nothing is lost. Processes that share a staging need the same REDIS_URL, so that they take turns`,
  );

/**
 * Empties every bucket by one more version, so that no number is given twice: a process that slept meanwhile neither
 * writes what would be taken for the newest version, nor removes one that is written after it. `isStillOurs`: whether
 * nobody else empties the ledger, so that a version that is there is one's own, whose answer was lost. @default it is not
 */
export async function clearLedgerTable(
  staging: Staging,
  ledger: string,
  table: LedgerTable,
  isStillOurs: () => Promise<boolean> = async () => false,
): Promise<void> {
  const keys = ledgerLayout(ledger);
  const before: string[] = [];
  for await (const { key } of staging.list(keys.table(table))) before.push(key);
  await inBlocks([...(await loadVersions(staging, keys.table(table)))], async ([bucket, version]) => {
    const key = keys.version(table, bucket, version + 1);
    if (await staging.create(key, EMPTIED)) return;
    const isEmptied = (await staging.get(key))?.equals(EMPTIED) ?? false;
    if (!isEmptied || !(await isStillOurs())) throw writtenByAnother(key);
  });
  await inBlocks(before, (key) => staging.remove(key));
}

/** Where one fails nothing is under way any more when it throws: a late write would fence out whoever comes next. */
async function inBlocks<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const settled = await Promise.allSettled(items.slice(start, start + AT_ONCE).map(work));
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

const DIGEST_BYTES = 32;

/** The records behind their digest, which also covers their width. */
const wrap = (records: Buffer, width: number): Buffer => Buffer.concat([digest(records, width), records]);

/** In place of records, whatever their width. */
const EMPTIED = createHash('sha256').update('emptied').digest();

function unwrap(body: Buffer, width: number, key: string, staging: Staging): Buffer {
  if (body.equals(EMPTIED)) return Buffer.alloc(0);
  const records = body.subarray(DIGEST_BYTES);
  if (records.length % width === 0 && digest(records, width).equals(body.subarray(0, DIGEST_BYTES)))
    return records;
  throw new SourceError(`${staging.location}: ${key} is not what Backhaul wrote there; ${recoveryHint(key)}`);
}

const digest = (records: Buffer, width: number): Buffer =>
  createHash('sha256')
    .update(Buffer.from([width]))
    .update(records)
    .digest();

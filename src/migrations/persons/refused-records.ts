import type { Staging } from '../../contract/staging.ts';
import { ID_WIDTH, withdrawMerge } from '../../identity/merges/id-entry.ts';
import { PROPERTY_WIDTH, withdrawProperty } from '../../identity/property-entry.ts';
import type { RefusedRecords } from '../../identity/sent-range.ts';
import { createPace } from '../../lib/async/pace.ts';
import { SourceError } from '../../lib/errors.ts';
import { gunzip, gzip } from '../../lib/gzip.ts';
import type { TurnKeys } from '../../state/keys/turn.ts';
import { HASH_BYTES } from '../../state/ledger/keyed-hash.ts';
import { createLedgerTables, type StoredTables } from '../../state/ledger/ledger-tables.ts';
import type { RecordTable } from '../../state/ledger/record-table.ts';
import { recoveryHint } from '../../state/recovery-hint.ts';
import { type Attempts, listSentRanges } from './attempts.ts';

/** Hashes of the ledger, as they are. */
export async function saveRefused(
  staging: Staging,
  key: string,
  records: readonly Uint8Array[],
): Promise<RefusedRecords> {
  const body = await gzip(Buffer.concat(records), { level: 1 });
  await staging.put(key, body);
  return { key, bytes: body.length, count: records.length };
}

/** Records that are taken back at once: 12 bytes each, and every bucket is read and written again. */
const AT_ONCE = 1_000_000;

interface RefusedTurn {
  readonly keys: TurnKeys;
  /** As they were when the turn was added up. */
  readonly attempts: Attempts;
  readonly ledger: string;
  readonly turn: number;
  /**
   * Throws where the producer was replaced. Asked between reading a bucket and writing it; whoever takes over later
   * finds that this turn came to something, and sends in a turn of its own, which writes the bucket.
   */
  readonly assertInForce: () => Promise<void>;
}

/**
 * Takes back from the ledger what a turn entered as sent and then left out, or the destination refused for good: the
 * merge was not made and the value was not set, so what comes later must not be decided as if they were. May be
 * called again.
 */
export async function withdrawRefused(
  staging: Staging,
  { keys, attempts, ledger, turn, assertInForce }: RefusedTurn,
): Promise<void> {
  const steps = [
    ['merged', createLedgerTables(staging, ledger, 'ids', ID_WIDTH), withdrawMerge],
    ['folded', createLedgerTables(staging, ledger, 'properties', PROPERTY_WIDTH), withdrawProperty],
  ] as const;
  for (const [step, tables, withdraw] of steps) {
    let hashes: Buffer[] = [];
    const flush = async () => {
      await withdrawAll(tables, hashes, (table, hash) => withdraw(table, hash, turn), assertInForce);
      hashes = [];
    };
    for await (const { refusedRecords = [] } of listSentRanges(staging, keys, step, attempts)) {
      for (const one of refusedRecords) {
        hashes.push(...(await loadRefused(staging, one)));
        if (hashes.length >= AT_ONCE) await flush();
      }
    }
    await flush();
  }
}

async function withdrawAll(
  tables: StoredTables,
  hashes: readonly Buffer[],
  withdraw: (table: RecordTable, hash: Buffer) => void,
  assertInForce: () => Promise<void>,
): Promise<void> {
  const pace = createPace();
  const byBucket = new Map<number, Buffer[]>();
  for (const hash of hashes) {
    const bucket = hash[0] ?? 0;
    const known = byBucket.get(bucket);
    if (known) known.push(hash);
    else byBucket.set(bucket, [hash]);
    if (pace.isDue()) await pace.rest();
  }
  for (const [bucket, some] of byBucket) {
    const loaded = await tables.load([bucket]);
    const table = loaded.get(bucket);
    for (const hash of some) {
      if (table) withdraw(table, hash);
      if (pace.isDue()) await pace.rest();
    }
    await assertInForce();
    await tables.save(loaded);
  }
}

async function loadRefused(staging: Staging, { key, count }: RefusedRecords): Promise<Buffer[]> {
  const body = await staging.get(key);
  const all = body && (await gunzip(body).catch(() => undefined));
  if (all?.length !== count * HASH_BYTES)
    throw new SourceError(`${staging.location}: ${key} is missing or damaged; ${recoveryHint(key)}`);
  return Array.from({ length: count }, (_, n) => all.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES));
}

import { createHash } from 'node:crypto';
import type { FactsIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import type { KnownFacts } from '../../identity/connect/context.ts';
import { SourceError, UnavailableError } from '../../lib/errors.ts';
import { loadIfWhole } from '../../state/document.ts';
import { estimateTextBytes } from '../../state/facts/fact-object.ts';
import { layout, parseReceiptKey } from '../../state/keys/migration.ts';
import { isDocument } from '../../state/keys/ordinal.ts';
import {
  type KnownFacts as InLedger,
  listKnownMigrations,
  loadKnownFacts,
} from '../../state/ledger/ledger.ts';
import { loadTurnDocument, loadTurns } from '../../state/ledger/turns.ts';
import { loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { listReceipts, loadReceipt } from '../../state/receipts.ts';
import { areFactsRemoved } from './facts-removed.ts';
import { turnPlan } from './turn.ts';

/**
 * The identity facts of all parts of some migrations. `receipts`: how many each has at least.
 *
 * @throws UnavailableError where a listing shows fewer: what it hides may forbid a merge
 */
export async function* listFacts(
  staging: Staging,
  names: readonly string[],
  receipts: readonly number[] = [],
): AsyncGenerator<FactsIndex> {
  for (const [number, name] of names.entries()) {
    let listed = 0;
    for await (const { findings } of listReceipts(staging, name)) {
      listed += 1;
      if (findings) yield findings;
    }
    assertAllListed(staging, name, { listed, known: receipts[number] ?? 0 });
  }
}

/** How many receipts each migration has; `known`: of how many of them this process knows. Throws as listFacts does. */
export async function countReceipts(
  staging: Staging,
  names: readonly string[],
  known: ReadonlyMap<string, number>,
): Promise<number[]> {
  const counts: number[] = [];
  for (const name of names) {
    let listed = 0;
    for await (const { key } of staging.list(layout(name).receipts)) if (isDocument(key)) listed += 1;
    assertAllListed(staging, name, { listed, known: known.get(name) ?? 0 });
    counts.push(listed);
  }
  return counts;
}

export function assertAllListed(
  { location }: Staging,
  name: string,
  { listed, known }: { readonly listed: number; readonly known: number },
): void {
  if (listed >= known) return;
  throw new UnavailableError(
    `${location} lists ${listed} of the ${known} parts of "${name}" that were imported: its listings are behind`,
    'backoff',
  );
}

/** Whether it has any, removed or not; where a receipt is damaged, it may. */
export async function hasFacts(staging: Staging, name: string): Promise<boolean> {
  try {
    for await (const _ of listFacts(staging, [name])) return true;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return true;
  }
  return false;
}

/** The first receipt of a migration that cannot be believed. */
export async function findDamagedReceipt(staging: Staging, name: string): Promise<string | undefined> {
  for await (const { key } of staging.list(layout(name).receipts)) {
    try {
      if (isDocument(key)) await loadReceipt(staging, name, parseReceiptKey(name, key));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      return key;
    }
  }
  return undefined;
}

/** The identity facts that are still there of some migrations, and of all that a ledger knows. */
export async function* listKnownFacts(
  staging: Staging,
  ledger: string,
  names: readonly string[],
): AsyncGenerator<FactsIndex> {
  for (const name of new Set([...names, ...(await listKnownMigrations(staging, ledger))]))
    if (!(await areFactsRemoved(staging, name))) yield* listFacts(staging, [name]);
}

/**
 * The identity facts that are still there of all that a ledger knows, but of some migrations; see KnownFacts. Throws as
 * listFacts does.
 */
export async function* listOtherFacts(
  staging: Staging,
  ledger: string,
  except: readonly string[],
): AsyncGenerator<KnownFacts> {
  for (const name of await listKnownMigrations(staging, ledger)) {
    if (except.includes(name) || (await areFactsRemoved(staging, name))) continue;
    const known = await loadKnownFacts(staging, ledger, name);
    const isWaiting = known?.state !== 'sent';
    const receipts = await countKnown(staging, name, known);
    try {
      for await (const index of listFacts(staging, [name], [receipts])) yield { ...index, isWaiting };
    } catch (error) {
      throw toDamageOfAnother(error, name);
    }
  }
}

/** Throws as listFacts does where fewer receipts of a migration are listed than a ledger was told of. */
export async function assertKnownListed(
  staging: Staging,
  ledger: string,
  name: string,
  listed: number,
): Promise<void> {
  const known = await countKnown(staging, name, await loadKnownFacts(staging, ledger, name));
  assertAllListed(staging, name, { listed, known });
}

/**
 * Of how many receipts the turns are that have not ended, and the last one, by the id of their migration: they may have
 * entered what those say, and nothing else counts them. One that nobody has counted yet is as one that is written later, so what is decided without it holds over all
 * that is known by then.
 */
export async function countPlanned(staging: Staging, ledger: string): Promise<ReadonlyMap<string, number>> {
  const { last, known, ended } = await loadTurns(staging, ledger);
  const counts = new Map<string, number>();
  for (const turn of known) {
    const document =
      ended.has(turn) && turn < last ? undefined : await loadTurnDocument(staging, ledger, turn);
    if (!document) continue;
    const { migration, name } = document;
    const { of, receipts } = (await loadIfWhole(turnPlan, layout(name).turn(turn), staging)) ?? {};
    const count = receipts?.[of?.indexOf(name) ?? -1] ?? 0;
    counts.set(migration, Math.max(count, counts.get(migration) ?? 0));
  }
  return counts;
}

/** Those of an earlier migration of the name say nothing of this one. */
async function countKnown(staging: Staging, name: string, known: InLedger | undefined): Promise<number> {
  if (!known?.receipts) return 0;
  return known.receipts.of === (await loadMigration(staging, name))?.id ? known.receipts.count : 0;
}

/** What is damaged of a migration holds up others to its destination, whose operators may not know it. */
export const toDamageOfAnother = (error: unknown, name: string): unknown =>
  error instanceof SourceError
    ? new SourceError(
        `${error.message}. What "${name}" says of persons may forbid a merge, so no other migration to the same destination sends persons before; resume those afterwards. Where "${name}" is not to be continued, run "backhaul rm ${name} --forget" instead: then nothing is merged at that destination any more`,
        error,
      )
    : error;

/** Whether a ledger was never told anything but the identity facts of these migrations, which are still there. */
export async function haveSaidAll(
  staging: Staging,
  ledger: string,
  names: readonly string[],
): Promise<boolean> {
  for (const name of await listKnownMigrations(staging, ledger)) {
    if (names.includes(name)) continue;
    // One that releases others has none of its own.
    if ((await hasFacts(staging, name)) || !(await loadMigration(staging, name))) return false;
  }
  for (const name of names) {
    const id = (await loadMigration(staging, name))?.id;
    const { migrations = [] } = (await loadKnownFacts(staging, ledger, name)) ?? {};
    if (migrations.some((one) => one !== id) || (await areFactsRemoved(staging, name))) return false;
  }
  return true;
}

/** Of their text, estimated. */
export async function countFactBytes(
  staging: Staging,
  names: readonly string[],
  receipts?: readonly number[],
): Promise<number> {
  let bytes = 0;
  for await (const index of listFacts(staging, names, receipts)) {
    for (const { length } of index.sections) bytes += estimateTextBytes(index, length);
  }
  return bytes;
}

/** `receipts`: how many the fingerprint is of. */
export interface FactsPrint {
  readonly facts: string;
  readonly receipts: number;
}

/**
 * Changes with every receipt that is added; receipts are never replaced, so none needs to be read. Another
 * migration under the same name may have receipts of the same sizes, so its id is part of it.
 */
export async function fingerprintFacts(
  staging: Staging,
  { name, id }: Pick<MigrationRecord, 'name' | 'id'>,
): Promise<FactsPrint> {
  const digest = createHash('sha256').update(`${id}\n`);
  let receipts = 0;
  for await (const { key, bytes } of staging.list(layout(name).receipts)) {
    if (!isDocument(key)) continue;
    receipts += 1;
    digest.update(`${key} ${bytes}\n`);
  }
  return { facts: digest.digest('hex').slice(0, 32), receipts };
}

import type { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { connected } from '../../identity/connect/connect-persons.ts';
import { type ResolvedRange, resolvedRange } from '../../identity/resolve-buckets.ts';
import { sendCheckpoint } from '../../identity/send-chunks.ts';
import { type SentRange, sentRange } from '../../identity/sent-range.ts';
import { gunzip } from '../../lib/gzip.ts';
import { loadIfWhole } from '../../state/document.ts';
import { areFactsWhole } from '../../state/facts/fact-object.ts';
import { layout } from '../../state/keys/migration.ts';
import { SEND_STEPS } from '../../state/keys/turn.ts';

/**
 * Removes the receipts and checkpoints of an interrupted turn that cannot be believed: those that are damaged, and
 * those that name facts or merges which are gone or damaged. All of it is derived from the identity facts of the
 * parts, and a range that is resolved again in the same turn yields the same, so what was lost is made again.
 * Returns the keys that were removed.
 */
export async function dropDamaged(staging: Staging, name: string, turn: number): Promise<string[]> {
  const keys = layout(name).atTurn(turn);
  const dropped: string[] = [];
  const check = async <T>(
    folder: string,
    schema: z.ZodType<T>,
    isWhole: (document: T) => Promise<boolean>,
  ) => {
    for await (const { key } of staging.list(folder)) {
      const document = await loadIfWhole(schema, key, staging);
      if (document !== undefined && (await isWhole(document))) continue;
      await staging.remove(key);
      dropped.push(key);
    }
  };
  await check(keys.connected, connected, ({ facts, renames }) =>
    isResolvedWhole(staging, { facts, merges: renames }),
  );
  await check(keys.resolved, resolvedRange, (range) => isResolvedWhole(staging, range));
  for (const step of SEND_STEPS) {
    await check(keys[step], sentRange, (sent) => isSentWhole(staging, sent));
    await check(keys.checkpoints(step), sendCheckpoint, ({ sent }) => isSentWhole(staging, sent));
  }
  return dropped;
}

async function isResolvedWhole(
  staging: Staging,
  { facts, merges }: Pick<ResolvedRange, 'facts' | 'merges'>,
): Promise<boolean> {
  for (const index of facts) if (!(await areFactsWhole(staging, index))) return false;
  for (const { key, bytes } of merges) if (!(await isWhole(staging, key, bytes))) return false;
  return true;
}

async function isSentWhole(staging: Staging, { refusedRecords = [] }: SentRange): Promise<boolean> {
  for (const { key, bytes } of refusedRecords) if (!(await isWhole(staging, key, bytes))) return false;
  return true;
}

/** Whether an object has its size, and the checksums of its gzip members hold. */
async function isWhole(staging: Staging, key: string, bytes: number): Promise<boolean> {
  const body = await staging.get(key);
  if (body?.length !== bytes) return false;
  return gunzip(body).then(
    () => true,
    () => false,
  );
}

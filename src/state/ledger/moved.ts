import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { encodeDocument } from '../document.ts';
import { ledgerLayout } from '../keys/ledger.ts';

/*
 * A ledger that was exported is continued at another place. Here it does not know what is sent from there, and would
 * allow merges that are found to be wrong there (I11).
 */

const movedMark = z.strictObject({ at: z.string() });

/** May be called again. */
export async function markLedgerMoved(staging: Staging, id: string, at: string): Promise<void> {
  const mark: z.infer<typeof movedMark> = { at };
  await staging.put(ledgerLayout(id).moved, encodeDocument(mark));
}

export const takeLedgerBack = (staging: Staging, id: string): Promise<void> =>
  staging.remove(ledgerLayout(id).moved);

export const isLedgerMoved = async (staging: Staging, id: string): Promise<boolean> =>
  (await staging.get(ledgerLayout(id).moved)) !== undefined;

/** `key`: fingerprint of the key of the project, under which it may have been exported as well. */
export async function assertLedgerHere(
  staging: Staging,
  { id, key = id }: { readonly id: string; readonly key?: string | undefined },
): Promise<void> {
  for (const each of new Set([id, key])) {
    if (!(await isLedgerMoved(staging, each))) continue;
    throw new ConfigError(
      `the migrations to this project were exported from ${staging.location} (backhaul state export), with what is known of its persons: two places would merge persons wrongly. Run this where they are now, or bring them back first, with "backhaul state import <file>" or "backhaul state take-back <name>"`,
    );
  }
}

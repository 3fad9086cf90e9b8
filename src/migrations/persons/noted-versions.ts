import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { loadIfWhole } from '../../state/document.ts';
import type { LedgerTable } from '../../state/keys/ledger.ts';
import { layout } from '../../state/keys/migration.ts';
import { isDocument } from '../../state/keys/ordinal.ts';
import { loadTurnDocument, loadTurns } from '../../state/ledger/turns.ts';
import { bucketVersions, type NotedVersions } from '../../state/ledger/versions.ts';

/** What receipts and checkpoints of ranges have in common; those of earlier versions note nothing. */
const noting = z.looseObject({
  versions: bucketVersions.optional(),
  earlierIds: bucketVersions.optional(),
});

/** Turns that are looked at at once; on S3 each is five round trips at least. */
const AT_ONCE = 16;

/**
 * The versions of buckets that the turns which have not ended have noted. What they sent is not sent again when they
 * are continued, so it must be in the ledger.
 */
export async function listNotedVersions(staging: Staging, ledger: string): Promise<NotedVersions[]> {
  const { known, ended } = await loadTurns(staging, ledger);
  const open = [...known].filter((turn) => !ended.has(turn));
  const noted: NotedVersions[] = [];
  for (let start = 0; start < open.length; start += AT_ONCE) {
    const some = open.slice(start, start + AT_ONCE);
    noted.push(...(await Promise.all(some.map((turn) => listNotedIn(staging, ledger, turn)))).flat());
  }
  return noted;
}

async function listNotedIn(staging: Staging, ledger: string, turn: number): Promise<NotedVersions[]> {
  const document = await loadTurnDocument(staging, ledger, turn);
  if (!document) return [];
  const keys = layout(document.name).atTurn(turn);
  const folders: [LedgerTable, string][] = [
    ['ids', keys.connected],
    ['ids', keys.resolved],
    ['properties', keys.folded],
    ['properties', keys.checkpoints('folded')],
  ];
  const noted: NotedVersions[] = [];
  for (const [table, folder] of folders) {
    for await (const one of staging.list(folder)) {
      if (!isDocument(one.key)) continue;
      const { versions, earlierIds } = (await loadIfWhole(noting, one.key, staging)) ?? {};
      if (versions) noted.push({ table, versions });
      if (earlierIds) noted.push({ table: 'earlier', versions: earlierIds });
    }
  }
  return noted;
}

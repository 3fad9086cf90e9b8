import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { loadControl } from '../../state/control.ts';
import { layout } from '../../state/keys.ts';
import { listReceipts } from '../../state/receipts.ts';
import { readRejects } from '../../state/rejects.ts';
import { createGeneration, loadRepeats } from '../../state/repeats.ts';
import { RefusedError, requireMigration } from '../life-store.ts';
import type { MigrationStore } from '../migration-runtime.ts';

export interface RejectReason {
  readonly reason: string;
  readonly count: number;
  /** Place and detail of the first one. */
  readonly example: string;
}

/** Rejects by reason, most frequent first. Throws RefusedError, as the others here do. */
export async function listRejects({ staging }: MigrationStore, name: string): Promise<RejectReason[]> {
  const reasons = new Map<string, { count: number; example: string }>();
  for await (const line of readRejectLines(staging, name)) {
    if (line.stays) continue;
    const known = reasons.get(line.reason);
    if (known) known.count += 1;
    else reasons.set(line.reason, { count: 1, example: `${formatPlace(line)}: ${line.detail}` });
  }
  return [...reasons]
    .map(([reason, { count, example }]) => ({ reason, count, example }))
    .sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
}

export interface ShowRejectsOptions {
  /** Only those of one reason. */
  readonly reason?: string | undefined;
  readonly limit: number;
  /** Called for each as it is read: there may be millions. */
  readonly onReject: (line: RejectLine) => void;
}

/** The rejected records themselves. `more`: there are some beyond the limit. */
export async function showRejects(
  { staging }: MigrationStore,
  name: string,
  { reason, limit, onReject }: ShowRejectsOptions,
): Promise<{ shown: number; more: boolean }> {
  let shown = 0;
  for await (const line of readRejectLines(staging, name)) {
    if (line.stays || (reason !== undefined && line.reason !== reason)) continue;
    if (shown === limit) return { shown, more: true };
    onReject(line);
    shown += 1;
  }
  return { shown, more: false };
}

/**
 * Every reject of every part that has its receipt, and those that were found over all parts: with them comes
 * the record of each id that counts as delivered (`stays`).
 */
export async function* readRejectLines(staging: Staging, name: string): AsyncGenerator<RejectLine> {
  await requireMigration(staging, name);
  const generations = createGeneration();
  await assertNotRemoved(staging, name);
  for await (const receipt of listReceipts(staging, name)) {
    generations.add(receipt);
    for (const segment of receipt.rejectSegments) yield* await readRejects(staging, segment);
  }
  const repeats = await loadRepeats(staging, name, generations.end());
  for (const segment of repeats?.rejectSegments ?? []) yield* await readRejects(staging, segment);
}

/** A removed migration has its rejects only where that was asked for. */
async function assertNotRemoved(staging: Staging, name: string): Promise<void> {
  if ((await loadControl(staging, name))?.state !== 'removed') return;
  for await (const _ of staging.list(layout(name).rejects)) return;
  throw new RefusedError('removed', `migration "${name}" was removed, and its rejects with it`);
}

const formatPlace = ({ file, member, line }: RejectLine) =>
  `${file}${member ? ` → ${member}` : ''}, line ${line}`;

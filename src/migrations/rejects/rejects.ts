import type { RejectLine, RejectSegment } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { loadControl } from '../../state/control.ts';
import { layout } from '../../state/keys/migration.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { listReceipts } from '../../state/receipts.ts';
import { readRejects } from '../../state/rejects/rejects.ts';
import { createGeneration, loadRepeats } from '../../state/repeats.ts';
import { RefusedError, requireMigration } from '../life-store.ts';
import type { State } from '../lifecycle.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { loadReplayed, type Replayed } from './replayed.ts';

export interface RejectReason {
  readonly reason: string;
  readonly count: number;
  /**
   * Of these, those that no replay has in its books. Where one has some of them, also the records that count as delivered
   * beside them and that it does not have.
   */
  readonly left: number;
  /** Place and detail of the first one. */
  readonly example: string;
}

/** A replay, and what it has of the rejects of its migration. */
export interface ReplayedBy {
  readonly migration: string;
  readonly state: State;
  readonly count: number;
  /** Records that it rejected itself and that no replay of it has; undefined where it was removed with its rejects. */
  readonly left: number | undefined;
}

export interface Rejects {
  /** Most frequent first. */
  readonly reasons: readonly RejectReason[];
  /** In the order in which they were begun; those that have none of these rejects are left out. */
  readonly replays: readonly ReplayedBy[];
}

/** Rejects by reason, and who has replayed them. Throws RefusedError, as the others here do. */
export async function listRejects(
  { staging }: Pick<MigrationStore, 'staging'>,
  name: string,
  { reason }: { readonly reason?: string | undefined } = {},
): Promise<Rejects> {
  const replayed = await loadReplayed(staging, await requireMigration(staging, name));
  const { reasons, counts } = await countRejects(staging, name, { replayed, reason });
  const replays: ReplayedBy[] = [];
  for (const { record, state } of replayed.replays) {
    const count = counts.get(record.name);
    if (count === undefined) continue;
    replays.push({ migration: record.name, state, count, left: await countLeft(staging, record) });
  }
  return {
    reasons: [...reasons]
      .map(([reason, counted]) => ({ reason, ...counted }))
      .sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason)),
    replays,
  };
}

/** Records of a migration that a replay would send. */
async function countLeft(staging: Staging, record: MigrationRecord): Promise<number | undefined> {
  if (!(await canBeReplayed(staging, record.name))) return undefined;
  const replayed = await loadReplayed(staging, record);
  const { reasons } = await countRejects(staging, record.name, { replayed });
  return [...reasons.values()].reduce((sum, { left }) => sum + left, 0);
}

/** Rejects by reason, and by the replay that has them. */
async function countRejects(
  staging: Staging,
  name: string,
  { replayed, reason }: { readonly replayed: Replayed; readonly reason?: string | undefined },
) {
  const reasons = new Map<string, { count: number; left: number; example: string }>();
  const counts = new Map<string, number>();
  const staying = new Map<string, number>();
  for await (const line of readRejectLines(staging, name)) {
    if (reason !== undefined && line.reason !== reason) continue;
    const by = replayed.find(line);
    if (line.stays) {
      if (by === undefined) staying.set(line.reason, (staying.get(line.reason) ?? 0) + 1);
      continue;
    }
    if (by !== undefined) counts.set(by, (counts.get(by) ?? 0) + 1);
    const known = reasons.get(line.reason) ?? {
      ...{ count: 0, left: 0 },
      example: `${formatPlace(line)}: ${line.detail}`,
    };
    reasons.set(line.reason, known);
    known.count += 1;
    if (by === undefined) known.left += 1;
  }
  // What came since a replay may be what counts as delivered now, and the destination has another record of its id.
  for (const [of, count] of staying) {
    const known = reasons.get(of);
    if (known && known.left < known.count) known.left += count;
  }
  return { reasons, counts };
}

/** A reject, and the replay that has it in its books. */
export type ShownReject = RejectLine & { readonly replayedBy?: string };

export interface ShowRejectsOptions {
  /** Only those of one reason. */
  readonly reason?: string | undefined;
  readonly limit: number;
  /** Called for each as it is read: there may be millions. */
  readonly onReject: (line: ShownReject) => void;
}

/** The rejected records themselves. `more`: there are some beyond the limit. */
export async function showRejects(
  { staging }: MigrationStore,
  name: string,
  { reason, limit, onReject }: ShowRejectsOptions,
): Promise<{ shown: number; more: boolean }> {
  let shown = 0;
  const replayed = await loadReplayed(staging, await requireMigration(staging, name));
  for await (const line of readRejectLines(staging, name)) {
    if (line.stays || (reason !== undefined && line.reason !== reason)) continue;
    if (shown === limit) return { shown, more: true };
    const replayedBy = replayed.find(line);
    onReject(replayedBy === undefined ? line : { ...line, replayedBy });
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
  const segments: RejectSegment[] = [];
  for await (const receipt of listReceipts(staging, name)) {
    generations.add(receipt);
    segments.push(...receipt.rejectSegments);
  }
  const repeats = await loadRepeats(staging, name, generations.end());
  for (const segment of [...segments, ...(repeats?.rejectSegments ?? [])])
    yield* await readRejects(staging, segment);
}

async function assertNotRemoved(staging: Staging, name: string): Promise<void> {
  if (await canBeReplayed(staging, name)) return;
  throw new RefusedError(
    'removed',
    (await hasRejects(staging, name))
      ? explainUnfinishedRemoval(name)
      : `migration "${name}" was removed, and its rejects with it`,
  );
}

export const explainUnfinishedRemoval = (name: string): string =>
  `the removal of migration "${name}" has not ended, and takes its rejects with it: finish it with "backhaul rm ${name}"`;

/** Whether it was not removed, or its rejects were kept. */
export async function canBeReplayed(staging: Staging, name: string): Promise<boolean> {
  const control = await loadControl(staging, name);
  if (control?.state !== 'removed') return true;
  return control.keepsRejects !== false && hasRejects(staging, name);
}

async function hasRejects(staging: Staging, name: string): Promise<boolean> {
  for await (const _ of staging.list(layout(name).rejects)) return true;
  return false;
}

const formatPlace = ({ file, member, line }: RejectLine) =>
  `${file}${member ? ` → ${member}` : ''}, line ${line}`;

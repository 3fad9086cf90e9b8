import { existsSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError, UnavailableError } from '../lib/errors.ts';
import { hasChanged, keepBeating } from './lock-beat.ts';
import {
  createPrivateFile,
  createPrivateFolder,
  listPrivateFolder,
  putPrivateFile,
  readTextIfThere,
} from './private-file.ts';
import { isAlive, type ProcessIdentity, processIdentity, readOwnIdentity } from './process-identity.ts';

/**
 * One process owns a data folder. Locks are numbered, `owner.<n>.lock`, and the highest number is valid:
 * a process takes over from a dead owner by creating the next number, which only one process can do. Numbers
 * never decrease, and a released lock stays as a tombstone: if it were deleted, a slow process that read an
 * older state could create a number beside the new owner's.
 *
 * A pid says nothing of a process in another container, whose host name may be the same. So owners give signs of life,
 * and one that cannot be seen is dead once it has given none for 15 s.
 */
export interface DataDirLock {
  readonly generation: number;
  /**
   * Called when another process has taken the folder all the same, because this one stood still for so long; at once
   * where that was before.
   */
  onLost(callback: (error: Error) => void): void;
  /** Looks now, and throws where it was lost. */
  assertHeld(): void;
  release(): void;
}

export type LockAttempt =
  | { readonly kind: 'taken'; readonly lock: DataDirLock }
  | { readonly kind: 'held'; readonly generation: number; readonly owner: ProcessIdentity }
  /** Its host name is that of this machine, and its pid means nothing here. */
  | { readonly kind: 'unseen'; readonly generation: number; readonly owner: ProcessIdentity };

/** As the leases of migrations. */
const SILENT_MS = 15_000;

const lockContent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('owned'), owner: processIdentity }),
  z.strictObject({ kind: z.literal('released') }),
]);
type LockContent = z.infer<typeof lockContent>;

export interface AcquireOptions {
  /** How long an owner that cannot be seen may give no sign of life. @default 15,000 */
  readonly silentMs?: number;
  /** Called where an owner cannot be seen and is waited for. */
  readonly onUnseen?: (owner: ProcessIdentity) => void;
}

/** Waits for signs of life of an owner that cannot be seen. Throws ConfigError where it gives one. */
export async function acquireDataDirLock(
  dataDir: string,
  { silentMs = SILENT_MS, onUnseen = () => {} }: AcquireOptions = {},
): Promise<Exclude<LockAttempt, { kind: 'unseen' }>> {
  let silent: number | undefined;
  let alive: number | undefined;
  for (;;) {
    const attempt = takeDataDirLock(dataDir, { silent });
    if (attempt.kind !== 'unseen') return attempt;
    const { generation, owner } = attempt;
    if (generation === alive) {
      throw new ConfigError(
        `The data folder ${dataDir} belongs to a process on another machine or in another container ` +
          `(process ${owner.pid}, with the host name ${owner.host} as here) that is at work. Run the command there, ` +
          'or choose another folder with BACKHAUL_DATA_DIR.',
      );
    }
    onUnseen(owner);
    if (await hasChanged(lockPath(dataDir, generation), silentMs)) alive = generation;
    else silent = generation;
  }
}

interface TakeOptions {
  /** The generation of an owner that cannot be seen, and gave no sign of life. */
  readonly silent?: number | undefined;
  /** @default createPrivateFile, which a test delays */
  readonly create?: typeof createPrivateFile;
}

/** Does not wait. */
export function takeDataDirLock(
  dataDir: string,
  { silent, create = createPrivateFile }: TakeOptions = {},
): LockAttempt {
  createPrivateFolder(dataDir);
  const owner = readOwnIdentity();
  for (;;) {
    const highest = Math.max(0, ...readGenerations(dataDir));
    const content = readLock(dataDir, highest);
    // A generation disappears only when it is replaced.
    if (highest > 0 && content === undefined) continue;
    if (content?.kind === 'owned' && highest !== silent) {
      const standing = judgeOwner(dataDir, highest, content.owner, owner);
      if (standing !== 'dead') return { kind: standing, generation: highest, owner: content.owner };
    }
    const generation = highest + 1;
    if (!create(lockPath(dataDir, generation), render({ kind: 'owned', owner }))) continue;
    const generations = readGenerations(dataDir);
    // This process was slow and created a number that others have used already.
    if (Math.max(...generations) > generation) {
      rmSync(lockPath(dataDir, generation), { force: true });
      continue;
    }
    for (const old of generations.filter((each) => each < generation)) {
      rmSync(lockPath(dataDir, old), { force: true });
    }
    return { kind: 'taken', lock: holdLock(dataDir, generation) };
  }
}

function holdLock(dataDir: string, generation: number): DataDirLock {
  const path = lockPath(dataDir, generation);
  let lost: Error | undefined;
  let tellLost = (_error: Error) => {};
  const look = () => {
    // Who removes the whole folder takes it from nobody.
    if (lost || !existsSync(dataDir) || Math.max(0, ...readGenerations(dataDir)) <= generation) return;
    stopBeating();
    lost = new UnavailableError(
      `Another process has taken the data folder ${dataDir}, as this one stood still for more than ${SILENT_MS / 1_000} s.`,
    );
    tellLost(lost);
  };
  const stopBeating = keepBeating(path, look);
  return {
    generation,
    onLost(callback) {
      tellLost = callback;
      if (lost) callback(lost);
    },
    assertHeld() {
      look();
      if (lost) throw lost;
    },
    release() {
      stopBeating();
      if (existsSync(path)) putPrivateFile(path, render({ kind: 'released' }));
    },
  };
}

/** Undefined when no live process of this machine owns the folder: services of another machine cannot be reached. */
export function findOwner(dataDir: string): { generation: number; owner: ProcessIdentity } | undefined {
  if (!existsSync(dataDir)) return undefined;
  const generation = Math.max(0, ...readGenerations(dataDir));
  const content = generation === 0 ? undefined : readLock(dataDir, generation);
  if (content?.kind !== 'owned' || content.owner.host !== hostname() || !isAlive(content.owner))
    return undefined;
  return { generation, owner: content.owner };
}

/** Whether the owner of this generation still owns the folder. */
export function isStillHeld(dataDir: string, generation: number): boolean {
  const content = readLock(dataDir, generation);
  return content?.kind === 'owned' && isAlive(content.owner);
}

function judgeOwner(
  dataDir: string,
  generation: number,
  owner: ProcessIdentity,
  own: ProcessIdentity,
): 'dead' | 'held' | 'unseen' {
  if (owner.host === own.host) {
    // Earlier versions gave no signs of life.
    if (owner.pids !== undefined && owner.pids !== own.pids) return 'unseen';
    return isAlive(owner) ? 'held' : 'dead';
  }
  throw new ConfigError(
    `The data folder ${dataDir} belongs to a process on another machine or in another container ` +
      `(${owner.host}, process ${owner.pid}), and one data folder serves one machine. Choose another folder ` +
      `with BACKHAUL_DATA_DIR; if that machine is gone for good, remove ${lockPath(dataDir, generation)}.`,
  );
}

function readLock(dataDir: string, generation: number): LockContent | undefined {
  const path = lockPath(dataDir, generation);
  const text = readTextIfThere(path);
  if (text === undefined) return undefined;
  const parsed = lockContent.safeParse(readJson(text));
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    `The lock file ${path} is damaged (a full disk or an edit can do that). Make sure that no other ` +
      'Backhaul process uses this folder, then remove the file.',
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readGenerations(dataDir: string): number[] {
  return listPrivateFolder(dataDir).flatMap((name) => {
    const generation = /^owner\.(\d+)\.lock$/.exec(name)?.[1];
    return generation === undefined ? [] : [Number(generation)];
  });
}

const lockPath = (dataDir: string, generation: number): string => join(dataDir, `owner.${generation}.lock`);

const render = (content: LockContent): string => `${JSON.stringify(content)}\n`;

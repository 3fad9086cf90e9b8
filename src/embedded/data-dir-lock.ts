import { existsSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../lib/errors.ts';
import { createPrivateFile, createPrivateFolder, putPrivateFile, readTextIfThere } from './private-file.ts';
import { isAlive, type ProcessIdentity, processIdentity, readOwnIdentity } from './process-identity.ts';

/**
 * One process owns a data folder. Locks are numbered, `owner.<n>.lock`, and the highest number is valid:
 * a process takes over from a dead owner by creating the next number, which only one process can do. Numbers
 * never decrease, and a released lock stays as a tombstone: if it were deleted, a slow process that read an
 * older state could create a number beside the new owner's.
 */
export interface DataDirLock {
  readonly generation: number;
  release(): void;
}

export type LockAttempt =
  | { readonly kind: 'taken'; readonly lock: DataDirLock }
  | { readonly kind: 'held'; readonly generation: number; readonly owner: ProcessIdentity };

const lockContent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('owned'), owner: processIdentity }),
  z.strictObject({ kind: z.literal('released') }),
]);
type LockContent = z.infer<typeof lockContent>;

/** @default create createPrivateFile, which a test delays */
export function takeDataDirLock(dataDir: string, create = createPrivateFile): LockAttempt {
  createPrivateFolder(dataDir);
  const owner = readOwnIdentity();
  for (;;) {
    const highest = Math.max(0, ...readGenerations(dataDir));
    const content = readLock(dataDir, highest);
    // A generation disappears only when it is replaced.
    if (highest > 0 && content === undefined) continue;
    if (content?.kind === 'owned' && isHeld(dataDir, highest, content.owner)) {
      return { kind: 'held', generation: highest, owner: content.owner };
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
    const release = () => {
      if (existsSync(dataDir)) putPrivateFile(lockPath(dataDir, generation), render({ kind: 'released' }));
    };
    return { kind: 'taken', lock: { generation, release } };
  }
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

function isHeld(dataDir: string, generation: number, owner: ProcessIdentity): boolean {
  if (owner.host === hostname()) return isAlive(owner);
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
  return readdirSync(dataDir).flatMap((name) => {
    const generation = /^owner\.(\d+)\.lock$/.exec(name)?.[1];
    return generation === undefined ? [] : [Number(generation)];
  });
}

const lockPath = (dataDir: string, generation: number): string => join(dataDir, `owner.${generation}.lock`);

const render = (content: LockContent): string => `${JSON.stringify(content)}\n`;

import { randomUUID } from 'node:crypto';
import type { Staging } from '../../contract/staging.ts';
import { waitFor } from '../../lib/async/abort.ts';
import { ConfigError, FencedOutError } from '../../lib/errors.ts';
import { addImports, type ImportHolder, type Imports, loadImports } from '../../state/archive/imports.ts';
import { decideLease, isSamePlace } from '../lifecycle.ts';
import { isRunning, THIS_PLACE } from '../run/this-place.ts';

/*
 * One process at a time imports into a staging. A holder writes every few seconds; of a process of this machine that is
 * gone the lock is taken over at once, and of another machine when it wrote nothing for as long as LOCK_MS by the clock
 * of whoever waits. Clocks of two machines are never compared.
 */

const LOCK_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

export interface ImportLock {
  /** Throws FencedOutError where another process has taken the lock over. */
  assertHeld(): Promise<void>;
}

export interface ImportLockOptions {
  /** What is done, for others to read: `imports <file>`. */
  readonly doing: string;
  /** Names of the migrations. */
  readonly names: readonly string[];
  readonly signal: AbortSignal;
  /** @default time */
  readonly wait?: typeof waitFor;
}

/** Holders of this process. One that has its pid and is not among them is of an earlier process. */
const ownTokens = new Set<string>();

/**
 * Keeps other imports away while `work` runs. What fails stays noted as begun, until it is imported or removed. Throws
 * ConfigError where another process imports into this staging.
 */
export async function whileImporting<T>(
  staging: Staging,
  { doing, names, signal, wait = waitFor }: ImportLockOptions,
  work: (lock: ImportLock) => Promise<T>,
): Promise<T> {
  const holder: ImportHolder = { ...THIS_PLACE, pid: process.pid, token: randomUUID(), doing };
  const before = await takeLock(staging, { holder, names, signal, wait });
  const begun = [...new Set([...before, ...names])];
  const add = async (next: Omit<Imports, 'number'>) => {
    for (;;) {
      const newest = await loadImports(staging);
      if (newest.holder?.token !== holder.token) return;
      if (await addImports(staging, { ...next, number: newest.number + 1 })) return;
    }
  };
  const renewing = setInterval(() => void add({ holder, begun }).catch(() => {}), RENEW_EVERY_MS).unref();
  let left = begun;
  try {
    const result = await work({
      async assertHeld() {
        const newest = await loadImports(staging);
        if (newest.holder?.token === holder.token) return;
        throw new FencedOutError(
          `another process imports into ${staging.location} since this one was last heard of; this one ends, and what is there stays as it is (backhaul status)`,
        );
      },
    });
    left = before.filter((name) => !names.includes(name));
    return result;
  } finally {
    clearInterval(renewing);
    ownTokens.delete(holder.token);
    await add({ begun: left }).catch(() => {});
  }
}

/** Returns the names of migrations whose import did not end. */
async function takeLock(
  staging: Staging,
  { holder, names, signal, wait }: Required<Omit<ImportLockOptions, 'doing'>> & { holder: ImportHolder },
): Promise<string[]> {
  let silent: Imports | undefined;
  for (;;) {
    signal.throwIfAborted();
    const newest = await loadImports(staging);
    if (newest.holder && newest.number !== silent?.number) {
      const isAlive = (pid: number) =>
        pid === process.pid ? ownTokens.has(newest.holder?.token ?? '') : isRunning(pid);
      if (decideLease(newest.holder, { ...THIS_PLACE, isAlive }) === 'refuse') {
        if (silent || isSamePlace(newest.holder, THIS_PLACE))
          throw new ConfigError(explain(newest.holder, staging));
        silent = newest;
        await wait(LOCK_MS, signal);
        continue;
      }
    }
    const begun = [...new Set([...newest.begun, ...names])];
    ownTokens.add(holder.token);
    if (await addImports(staging, { number: newest.number + 1, holder, begun })) return newest.begun;
    ownTokens.delete(holder.token);
  }
}

const explain = ({ doing, host, pid }: ImportHolder, { location }: Staging) =>
  `${location} is being changed by process ${pid} on ${host}, which ${doing}: wait for its end, or stop that process, and then run this command again (backhaul status shows what is there)`;

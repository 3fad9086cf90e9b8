import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProjectRoot } from '../../embedded/project-root.ts';
import { withTimeout } from '../../lib/async/timeout.ts';

/** How a process that was started to drive a migration began. */
export type ProducerStart =
  | { readonly kind: 'running'; readonly migration: string }
  /** It is still reading the source. */
  | { readonly kind: 'preparing' }
  /** It has ended already; what it said last. */
  | { readonly kind: 'ended'; readonly code: number | null; readonly said: string };

export interface Producers {
  /**
   * `backhaul <args>` as a process of its own, with the environment of this one. The same again while one begins is
   * answered with that one: a form that is sent twice must not replay twice.
   */
  start(args: readonly string[]): Promise<ProducerStart>;
  /** Stops them at the next batch, and waits until they have ended. */
  close(): Promise<void>;
}

const BEGINS_WITHIN_MS = 20_000;
const SAID_LINES = 3;

/**
 * Resuming and replaying need a process that drives the migration. It is the command that an operator would call,
 * beside the API: so importing does not slow the API down, and a crash of either leaves the other.
 */
export function createProducers(
  dataDir: string,
  program = join(findProjectRoot(), 'src/setup/backhaul.mjs'),
): Producers {
  const children = new Map<ChildProcess, Promise<number | null>>();
  const beginning = new Map<string, Promise<ProducerStart>>();

  const begin = (args: readonly string[]): Promise<ProducerStart> => {
    const folder = join(dataDir, 'producers');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const logFile = join(folder, `${args.join('-').replace(/[^\w.-]+/g, '-')}.log`);
    const log = openSync(logFile, 'w', 0o600);
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', log, log, 'ipc'],
      detached: true,
    });
    closeSync(log);
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', resolve);
      child.once('error', () => resolve(null));
    });
    children.set(child, ended);
    void ended.then(() => children.delete(child));
    const running = new Promise<ProducerStart>((resolve) => {
      child.once('message', (message) => {
        child.disconnect();
        resolve({ kind: 'running', migration: String((message as { migration?: unknown }).migration) });
      });
    });
    const over = ended.then((code): ProducerStart => ({ kind: 'ended', code, said: readEnd(logFile) }));
    return Promise.race([running, over]);
  };

  return {
    async start(args) {
      const key = JSON.stringify(args);
      const begun = beginning.get(key) ?? begin(args);
      beginning.set(key, begun);
      const forget = () => beginning.delete(key);
      begun.then(forget, forget);
      return withTimeout(begun, BEGINS_WITHIN_MS, () => new Error('preparing')).catch(
        (): ProducerStart => ({ kind: 'preparing' }),
      );
    },
    async close() {
      for (const child of children.keys()) child.kill('SIGTERM');
      await Promise.all(children.values());
    },
  };
}

const readEnd = (file: string): string =>
  readFileSync(file, 'utf8').trim().split('\n').slice(-SAID_LINES).join(' ').slice(0, 1_000);

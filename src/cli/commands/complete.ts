import type { Command } from 'commander';
import { readEnvironment } from '../../../config/environment.ts';
import { loadSettings } from '../../../config/load-settings.ts';
import { withTimeout } from '../../lib/async/timeout.ts';
import { listNames } from '../../migrations/status/watch.ts';
import { openStore } from '../../runtime/open-store.ts';
import { suggest, type Word } from '../completion/suggest.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** Whoever presses Tab waits no longer for the names of migrations. */
const WITHIN_MS = 2_000;

/** What the scripts of `backhaul completion` ask: a line a candidate. Silent where names cannot be read. */
export async function complete(program: Command, typed: readonly string[]): Promise<ExitCode> {
  const { words, also } = suggest(program, typed);
  const names = also === 'migrations' ? await listMigrationNames().catch(() => []) : [];
  const lines = [...words, ...names].map(({ value, description }) => `${value}\t${description}\n`);
  process.stdout.write(`${also === 'files' ? ':files\n' : ''}${lines.join('')}`);
  return EXIT.done;
}

async function listMigrationNames(): Promise<Word[]> {
  const store = await openStore(loadSettings(readEnvironment()));
  const names = await withTimeout(listNames(store), WITHIN_MS, () => new Error('no answer'));
  return names.map((value) => ({ value, description: 'migration' }));
}

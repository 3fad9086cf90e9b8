import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PREFIX = 'backhaul-mutants-';

/**
 * A copy of the working tree in a temporary folder, where code may be broken: a run that is killed leaves the
 * working tree as it was. Packages are linked, not copied. Copies of runs that were killed are removed.
 */
export function createScratchTree(): { readonly root: string; remove(): void } {
  removeAbandoned(tmpdir());
  const root = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const remove = () => rmSync(root, { recursive: true, force: true });
  process.once('exit', remove);
  for (const file of listFiles()) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(ROOT, file), join(root, file));
  }
  // The build only needs what changed since.
  if (existsSync(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist'), join(root, 'dist'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { root, remove };
}

/** Removes the copies in a folder whose owners have ended: their names hold the pid. */
export function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Tracked files and new ones that git would not ignore, as they are in the working tree. */
function listFiles(): string[] {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return list.split('\0').filter((file) => file !== '' && existsSync(join(ROOT, file)));
}

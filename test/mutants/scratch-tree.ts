import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A copy of the working tree in a temporary folder, where code may be broken: a run that is killed leaves the
 * working tree as it was. Packages are linked, not copied.
 */
export function createScratchTree(): { readonly root: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'backhaul-mutants-'));
  for (const file of listFiles()) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(ROOT, file), join(root, file));
  }
  // The build only needs what changed since.
  if (existsSync(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist'), join(root, 'dist'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
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

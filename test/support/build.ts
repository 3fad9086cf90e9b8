import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Build {
  /** Absolute path of a compiled file, named by its path in the tree, such as `src/server/server.js`. */
  path(file: string): string;
  remove(): Promise<void>;
}

/** Compiles the tree into a folder of its own: tests of child processes and threads never meet an old build. */
export function buildTree(): Build {
  const parent = join(ROOT, 'node_modules/.cache/backhaul');
  mkdirSync(parent, { recursive: true });
  const dir = mkdtempSync(join(parent, 'test-build-'));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [
    compiler,
    '-p',
    join(ROOT, 'config/tsconfig.build.json'),
    '--outDir',
    dir,
    '--incremental',
    'false',
  ];
  const { stdout, error } = spawnSync(process.execPath, [...args, '--tsBuildInfoFile', 'null'], {
    encoding: 'utf8',
  });
  const path = (file: string) => join(dir, file);
  // The compiler writes its output in spite of type errors, which are another check's business.
  if (error !== undefined || !statSync(path('src/server/server.js'), { throwIfNoEntry: false })) {
    throw new Error(`the build into ${dir} failed:\n${error?.message ?? stdout}`);
  }
  return { path, remove: () => rm(dir, { recursive: true, force: true }) };
}

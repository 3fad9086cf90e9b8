import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What set-up keeps between its runs; it goes when node_modules goes. */
export const cachePath = (root, ...names) => join(root, 'node_modules/.cache/backhaul', ...names);

/** A stamp says which inputs a finished step has seen. */
export function readStamp(root, step) {
  try {
    return readFileSync(cachePath(root, `${step}.stamp`), 'utf8');
  } catch {
    return undefined;
  }
}

export function putStamp(root, step, stamp) {
  const path = cachePath(root, `${step}.stamp`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, stamp);
  renameSync(`${path}.${process.pid}`, path);
}

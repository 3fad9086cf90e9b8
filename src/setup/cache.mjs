import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What set-up keeps of a checkout between its runs; it is removed with node_modules. */
export const getCheckoutCache = (root) => join(root, 'node_modules/.cache/backhaul');

/** An installed package may be in a folder that its user cannot write to. */
export const getUserCache = (env) => join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'backhaul');

/** A stamp identifies the inputs that a finished step has read. Undefined before its first run. */
export function readStamp(cache, step) {
  try {
    return readFileSync(join(cache, `${step}.stamp`), 'utf8');
  } catch {
    return undefined;
  }
}

export function writeStamp(cache, step, stamp) {
  const path = join(cache, `${step}.stamp`);
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${path}.${process.pid}`, stamp);
  renameSync(`${path}.${process.pid}`, path);
}

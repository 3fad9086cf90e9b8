import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve(import.meta.dirname, '../../node_modules/.cache/backhaul-test');

/**
 * A file or folder that takes long to make and is the same every time, such as an empty database: made
 * once for this checkout. `name` carries the versions that it depends on. Returns its path.
 */
export async function prepared(name: string, make: (path: string) => void | Promise<void>): Promise<string> {
  const path = join(FOLDER, name);
  if (existsSync(path)) return path;
  mkdirSync(FOLDER, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await make(draft);
  try {
    renameSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
    rmSync(draft, { recursive: true, force: true }); // another worker was first
  }
  return path;
}

import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigError, getMessage } from '../../lib/errors.ts';

/** A link to a listed file is the same file. Of other files the folder is resolved, once for all in it. */
export function createIdentify() {
  const folders = new Map<string, Promise<string>>();
  const loops = new Map<string, Promise<boolean>>();
  const resolveFolder = (path: string): Promise<string> => {
    const folder = folders.get(path) ?? realpath(path);
    folders.set(path, folder);
    return folder;
  };
  const isLoop = (folder: string): Promise<boolean> => {
    const known = loops.get(folder) ?? meetsTwice(folder, resolveFolder);
    loops.set(folder, known);
    return known;
  };
  return async (path: string, entry: string) => {
    const itself = await lstat(path).catch(() => undefined);
    const folder = dirname(path);
    if (!itself?.isFile()) {
      const stats = await statReadable(path, entry);
      return { stats, identity: await realpath(path), isLoop: await isLoop(folder) };
    }
    const identity = join(await resolveFolder(folder), basename(path));
    return { stats: itself, identity, isLoop: await isLoop(folder) };
  };
}

/** Whether a folder lies below itself, by way of links. */
async function meetsTwice(
  folder: string,
  resolveFolder: (path: string) => Promise<string>,
): Promise<boolean> {
  if ((await resolveFolder(folder)) === folder) return false;
  const met = new Set<string>();
  for (let at = folder; ; at = dirname(at)) {
    const real = await resolveFolder(at);
    if (met.has(real)) return true;
    met.add(real);
    if (dirname(at) === at) return false;
  }
}

async function statReadable(path: string, entry: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw new ConfigError(
      `source.from: "${entry}" leads to ${path}, which cannot be looked at (${getMessage(error)}); ` +
        'if it is a link, correct or remove it; if its name is not UTF-8, rename it',
      error,
    );
  }
}

import {
  type Dirent,
  lstat as lstatCallback,
  readdir as readdirCallback,
  realpath as realpathCallback,
  type Stats,
  stat as statCallback,
} from 'node:fs';
import { basename, resolve } from 'node:path';
import { glob } from 'tinyglobby';
import { ConfigError, getMessage } from '../../lib/errors.ts';

/** What the root of a volume of Linux or Windows has, and nobody else may list. */
const OF_FILE_SYSTEM = new Set(['lost+found', 'System Volume Information']);

/** A star stays within one name; a class of characters or an alternative may hold a slash. */
const MAY_CROSS = /\*\*|[[(]|\{.*\//;
const countNames = (path: string): number => path.split('/').filter((name) => name !== '').length;

/** Whether the pattern reaches into a folder, where what it names has more names than the path of the folder. */
function createReach(pattern: string, cwd: string): (folder: string) => boolean {
  if (MAY_CROSS.test(pattern)) return () => true;
  const names = countNames(resolve(cwd, pattern));
  return (folder) => countNames(folder) < names;
}

type Then<T> = (error: NodeJS.ErrnoException | null, result: T) => void;

/*
 * The glob omits links that lead nowhere, but a missing piece of an export must be an error. Here such a
 * link is found like a file, and whoever looks at it refuses it.
 */
const realpathOrItself = (path: string, then: Then<string>) =>
  realpathCallback(path, (error, real) => then(null, error ? path : real));
const statOrLink = (path: string, then: Then<Stats>) =>
  statCallback(path, (error, stats) => (error ? lstatCallback(path, then) : then(null, stats)));

/**
 * The files below a folder that match, with their whole paths. None where the folder that the pattern begins with does
 * not exist.
 *
 * @throws {ConfigError} for any folder that cannot be listed: the glob itself would leave out what is in it. Folders
 * that the pattern does not reach into are not listed
 */
export async function globFiles(pattern: string, cwd: string, entry: string): Promise<string[]> {
  const reachesInto = createReach(pattern, cwd);
  let root: string | undefined;
  let failed: { readonly path: string; readonly error: NodeJS.ErrnoException } | undefined;
  const readdirOrNote = (path: string, options: { withFileTypes: true }, then: Then<Dirent[]>) => {
    root ??= path;
    // The glob also looks into folders whose own path matches.
    if (!reachesInto(path)) return then(null, []);
    readdirCallback(path, options, (error, items) => {
      const isMissing = path === root && (error?.code === 'ENOENT' || error?.code === 'ENOTDIR');
      if (error && !isMissing && !OF_FILE_SYSTEM.has(basename(path))) failed ??= { path, error };
      then(error, items);
    });
  };
  const paths = await glob(pattern, {
    cwd,
    absolute: true,
    expandDirectories: false,
    // The types ask for the overloads of node:fs, which the glob does not call.
    fs: {
      readdir: Object.assign(readdirOrNote, readdirCallback),
      realpath: Object.assign(realpathOrItself, realpathCallback),
      stat: Object.assign(statOrLink, statCallback),
    },
  });
  if (!failed) return paths;
  throw new ConfigError(
    `source.from: "${entry}" holds the folder ${failed.path.replace(/\/$/, '')}, which cannot be listed (${getMessage(failed.error)}), so what is in it would be missing; ` +
      'allow the user of this process to list it; if its name is not UTF-8, rename it; if it belongs to no export, name the other folders in source.from',
    failed.error,
  );
}

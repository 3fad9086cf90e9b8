import { lstat as lstatOf, realpath as realpathOf, type Stats, stat as statOf } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { glob } from 'tinyglobby';
import type { Slice } from '../../contract/slice.ts';
import { ConfigError, getMessage } from '../../lib/errors.ts';
import type { SourceContext } from '../source.ts';
import { naturalOrder } from './natural-order.ts';
import { createFileId } from './source-file.ts';

/**
 * The files that `source.from` names: files, globs, folders (all below them) and `s3://bucket/prefix`.
 * In natural order of their names, each once even where entries overlap.
 */
export async function findSourceFiles(
  from: readonly string[],
  { baseDir, openS3 }: SourceContext,
): Promise<Slice[]> {
  const found = new Map<string, Slice>();
  for (const entry of from) {
    const files = entry.startsWith('s3://') ? await findOnS3(entry, openS3) : await findLocal(entry, baseDir);
    for (const [identity, file] of files) {
      const known = found.get(identity);
      if (!known || naturalOrder(file.name, known.name) < 0) found.set(identity, file);
    }
  }
  return [...found.values()].sort((a, b) => naturalOrder(a.name, b.name));
}

const toSlice = (name: string, bytes: number, modified: string, location: Slice['location']): Slice => ({
  fileId: createFileId(name),
  name,
  bytes,
  modified,
  location,
});

type Then<T> = (error: NodeJS.ErrnoException | null, result: T) => void;

/**
 * The glob would leave out links that lead nowhere, and a part of an export that is missing must be
 * heard of: here such a link is a file like others, which `readable` then stumbles over.
 */
const realpathOrItself = (path: string, then: Then<string>) =>
  realpathOf(path, (error, real) => then(null, error ? path : real));
const statOrLink = (path: string, then: Then<Stats>) =>
  statOf(path, (error, stats) => (error ? lstatOf(path, then) : then(null, stats)));

const GLOB = {
  absolute: true,
  expandDirectories: false,
  // The types ask for the overloads of node:fs, which the glob does not call.
  fs: {
    realpath: Object.assign(realpathOrItself, realpathOf),
    stat: Object.assign(statOrLink, statOf),
  },
};

/** What makes two findings the same file, with the file. */
type Found = [identity: string, file: Slice][];

async function findLocal(entry: string, baseDir: string): Promise<Found> {
  const path = resolve(baseDir, entry);
  const itself = await stat(path).catch(() => undefined);
  let paths: string[];
  if (itself?.isFile()) paths = [path];
  // Names that start with a dot (.DS_Store, half-downloaded files) are nobody's export.
  else if (itself?.isDirectory()) paths = await glob('**/*', { ...GLOB, cwd: path });
  else paths = await glob(entry, { ...GLOB, cwd: baseDir });

  const found: Found = [];
  for (const each of paths) {
    const stats = await readable(each, entry);
    const name = relative(baseDir, each).split(sep).join('/');
    // A link to a listed file is the same file.
    found.push([await realpath(each), toSlice(name, stats.size, stats.mtime.toISOString(), 'producer')]);
  }
  if (found.length === 0) throw await nothingFound(entry, baseDir, itself?.isDirectory() ? path : undefined);
  return found;
}

async function readable(path: string, entry: string): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    throw new ConfigError(
      `source.from: "${entry}" leads to ${path}, which cannot be looked at (${getMessage(error)})`,
      error,
    );
  }
}

async function findOnS3(entry: string, openS3: SourceContext['openS3']): Promise<Found> {
  const match = /^s3:\/\/([^/]+)(?:\/(.*))?$/.exec(entry);
  const bucketName = match?.[1];
  const prefix = match?.[2] ?? '';
  if (!bucketName) {
    throw new ConfigError(`source.from: "${entry}" names no bucket; it takes s3://bucket/prefix`);
  }
  if (prefix.includes('*')) {
    throw new ConfigError(
      `source.from: "${entry}" has a "*", but on S3 an entry is a prefix: every object whose key starts with it is read; leave the "*" out`,
    );
  }
  if (!openS3) throw new ConfigError(`source.from: "${entry}" lies on S3, but no access to S3 is set up`);
  const bucket = await openS3(bucketName);
  const found: Found = [];
  for await (const object of bucket.list(prefix)) {
    if (object.key.endsWith('/')) continue; // a console's marker of an empty folder
    const file = toSlice(`s3://${bucketName}/${object.key}`, object.bytes, object.etag, 'shared');
    found.push([file.name, file]);
  }
  if (found.length === 0) {
    throw new ConfigError(
      `source.from: "${entry}" matches no object of bucket ${bucketName}; check the prefix (it is case-sensitive and takes no leading slash)`,
    );
  }
  return found;
}

async function nothingFound(
  entry: string,
  baseDir: string,
  emptyFolder: string | undefined,
): Promise<ConfigError> {
  if (emptyFolder)
    return new ConfigError(`source.from: the folder "${entry}" (${emptyFolder}) holds no files`);
  const folder = await nearestFolder(resolve(baseDir, entry.replace(/[*?{[(!].*$/, 'x')));
  const names = (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .map((item) => (item.isDirectory() ? `${item.name}/` : item.name))
    .filter((name) => !name.startsWith('.'))
    .sort(naturalOrder);
  const shown = names.slice(0, 8).join(', ') + (names.length > 8 ? `, … (${names.length} in all)` : '');
  return new ConfigError(
    `source.from: "${entry}" matches no file (looked from ${baseDir}); ${folder} holds ${shown || 'nothing'}`,
  );
}

/** The folder that a person would look into next. */
async function nearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  const there = await stat(parent).catch(() => undefined);
  return there?.isDirectory() || parent === path ? parent : nearestFolder(parent);
}

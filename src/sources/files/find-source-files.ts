import { readdir, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { Slice } from '../../contract/slice.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { SourceContext } from '../source.ts';
import { globFiles } from './glob-files.ts';
import { createIdentify } from './identify-file.ts';
import { compareNaturally, sortNaturally } from './natural-order.ts';
import { createFileId } from './source-file.ts';

/**
 * The files that `source.from` names: files, globs, folders (all below them) and `s3://bucket/prefix`.
 * In natural order of their names, each once even where entries overlap.
 */
export async function findSourceFiles(
  from: readonly string[],
  { baseDir, openS3, allowEmpty = false, wasThere, onLeftOut }: SourceContext,
): Promise<Slice[]> {
  const found = new Map<string, Way>();
  for (const entry of from) {
    const files = entry.startsWith('s3://')
      ? await findOnS3(entry, { openS3, allowEmpty })
      : await findLocal(entry, { baseDir, allowEmpty, wasThere, onLeftOut });
    for (const [identity, way] of files) {
      const known = found.get(identity);
      if (!known || isBetter(way, known)) found.set(identity, way);
    }
  }
  return sortNaturally([...found.values()].map(({ file }) => file));
}

/** A file under one of the names by which it is found. */
interface Way {
  readonly file: Slice;
  /** Whether the name leads through a link back to a folder that it has been in. */
  readonly isLoop: boolean;
}

const isBetter = (way: Way, known: Way): boolean =>
  way.isLoop === known.isLoop ? compareNaturally(way.file.name, known.file.name) < 0 : known.isLoop;

const toSlice = (name: string, bytes: number, modified: string, location: Slice['location']): Slice => ({
  fileId: createFileId(name),
  name,
  bytes,
  modified,
  location,
});

/** A file, and what identifies it: two entries may find the same one. */
type Found = [identity: string, way: Way][];

type LocalContext = Pick<SourceContext, 'baseDir' | 'wasThere' | 'onLeftOut'> & {
  readonly allowEmpty: boolean;
};

/** What is listed may be gone when it is looked at, such as the folder that whoever writes an export works in. */
const MOST_LISTINGS = 5;

/** What vanishes meanwhile is not there. It is listed once more, as it may have been moved; what is never found is an error. */
async function findLocal(entry: string, context: LocalContext): Promise<Found> {
  for (let listings = 1; ; listings += 1) {
    try {
      return await listLocal(entry, context);
    } catch (error) {
      if (!isGone(error) || listings === MOST_LISTINGS) throw error;
    }
  }
}

function isGone(error: unknown): boolean {
  const { code } = ((error instanceof ConfigError ? error.cause : error) ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

async function listLocal(
  entry: string,
  { baseDir, allowEmpty, wasThere, onLeftOut }: LocalContext,
): Promise<Found> {
  const path = resolve(baseDir, entry);
  const itself = await stat(path).catch(() => undefined);
  let paths: string[];
  if (itself?.isFile()) paths = [path];
  // Names that start with a dot (.DS_Store, half-downloaded files) belong to no export.
  else if (itself?.isDirectory()) paths = await globFiles('**/*', path, entry);
  else paths = await globFiles(entry, baseDir, entry);

  const found: Found = [];
  const identify = createIdentify();
  for (let from = 0; from < paths.length; from += LOOKED_AT_ONCE) {
    const looked = paths.slice(from, from + LOOKED_AT_ONCE).map(async (each) => {
      const { identity, stats, isLoop } = await identify(each, entry);
      const file = toSlice(toName(baseDir, each), stats.size, stats.mtime.toISOString(), 'producer');
      return [identity, { file, isLoop }] as const;
    });
    for (const [identity, way] of await Promise.all(looked)) found.push([identity, way]);
  }
  if (itself?.isDirectory() && onLeftOut) {
    const hidden = await listHidden(path);
    if (hidden.length > 0) onLeftOut(describeHidden(entry, path, hidden));
  }
  if (found.length > 0 || wasThere?.(toName(baseDir, path))) return found;
  const folder = itself?.isDirectory() ? path : undefined;
  // A folder that is not there may be misspelt, or not mounted.
  if (allowEmpty && (folder ?? (await isFolderOfGlob(entry, baseDir)))) return found;
  throw await explainNothingFound(entry, baseDir, folder);
}

const toName = (baseDir: string, path: string): string => relative(baseDir, path).split(sep).join('/');

/** Files and folders below a folder whose names start with a dot, but for what such folders hold. */
async function listHidden(folder: string): Promise<string[]> {
  const hidden: string[] = [];
  const items = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const item of items.toSorted((a, b) => compareNaturally(a.name, b.name))) {
    const path = join(folder, item.name);
    if (item.name.startsWith('.')) hidden.push(path);
    else if (item.isDirectory()) hidden.push(...(await listHidden(path)));
  }
  return hidden;
}

function describeHidden(entry: string, folder: string, hidden: readonly string[]): string {
  const example = relative(folder, hidden[0] ?? folder);
  return (
    (hidden.length === 1
      ? `source.from: "${entry}" holds a hidden file or folder (${example}), which is`
      : `source.from: "${entry}" holds ${hidden.length} hidden files and folders (${example}, …), which are`) +
    ' left out, as a name that starts with a dot belongs to no export; rename what is to be read'
  );
}

/** Whether the folder is there that a glob looks in. */
async function isFolderOfGlob(entry: string, baseDir: string): Promise<boolean> {
  if (!GLOB_SIGN.test(entry)) return false;
  const folder = await stat(dirname(toLiteral(entry, baseDir))).catch(() => undefined);
  return folder?.isDirectory() ?? false;
}

const GLOB_SIGN = /[*?{[(!]/;
/** An entry up to where its glob begins. */
const toLiteral = (entry: string, baseDir: string) => resolve(baseDir, entry.replace(/[*?{[(!].*$/, 'x'));

const LOOKED_AT_ONCE = 64;

async function findOnS3(
  entry: string,
  { openS3, allowEmpty }: Pick<SourceContext, 'openS3' | 'allowEmpty'>,
): Promise<Found> {
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
  if (!openS3) throw new ConfigError(`source.from: "${entry}" is on S3, but no access to S3 is set up`);
  const bucket = await openS3(bucketName);
  const found: Found = [];
  for await (const object of bucket.list(prefix)) {
    if (object.key.endsWith('/') && object.bytes === 0) continue; // a console's marker of an empty folder
    const file = toSlice(`s3://${bucketName}/${object.key}`, object.bytes, object.etag, 'shared');
    found.push([file.name, { file, isLoop: false }]);
  }
  if (found.length === 0 && !allowEmpty) {
    throw new ConfigError(
      `source.from: "${entry}" matches no object of bucket ${bucketName}; check the prefix (it is case-sensitive and takes no leading slash)`,
    );
  }
  return found;
}

async function explainNothingFound(
  entry: string,
  baseDir: string,
  emptyFolder: string | undefined,
): Promise<ConfigError> {
  if (emptyFolder)
    return new ConfigError(`source.from: the folder "${entry}" (${emptyFolder}) holds no files`);
  const folder = await findNearestFolder(toLiteral(entry, baseDir));
  const names = (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .map((item) => (item.isDirectory() ? `${item.name}/` : item.name))
    .filter((name) => !name.startsWith('.'))
    .sort(compareNaturally);
  const shown = names.slice(0, 8).join(', ') + (names.length > 8 ? `, … (${names.length} in all)` : '');
  return new ConfigError(
    `source.from: "${entry}" matches no file (looked from ${baseDir}); ${folder} holds ${shown || 'nothing'}`,
  );
}

/** The nearest folder that exists: what the message lists. */
async function findNearestFolder(path: string): Promise<string> {
  const parent = dirname(path);
  const there = await stat(parent).catch(() => undefined);
  return there?.isDirectory() || parent === path ? parent : findNearestFolder(parent);
}

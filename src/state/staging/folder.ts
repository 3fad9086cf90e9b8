import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { link, open, readdir, readFile, rename, stat, statfs, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError, SourceError } from '../../lib/errors.ts';
import { explainNoLinks } from '../../lib/hard-links.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { getErrorCode, toFolderError } from './folder-errors.ts';
import { assertKey, assertPrefix } from './key.ts';

/** Bodies are written here first: on the same file system, so that a rename is atomic. */
const TMP = '.tmp';
const STALE_TMP_MS = 24 * 60 * 60 * 1000;
/** Of network shares and others that write names at once, or cannot say when. */
const NO_FOLDER_SYNC = new Set(['EINVAL', 'ENOTSUP', 'ENOSYS']);

/** What others may do, where this user may not. */
const FORBIDDEN = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Staging in a folder: the embedded default. The folder is created on the first write. */
export function createFolderStaging(root: string): Staging {
  const location = `folder ${root}`;
  const toPath = (key: string) => join(root, assertKey(key));
  const guard = <T>(doing: string, work: () => Promise<T>) => translateErrors(location, doing, work);
  let swept = false;

  /** Writes a complete, synced file, which whoever asked for it moves or removes. */
  async function writeTmpFile(body: Uint8Array): Promise<string> {
    const folder = join(root, TMP);
    if (!swept) {
      swept = true;
      await sweep(folder);
    }
    const tmp = join(folder, randomUUID());
    const handle = await inFolder(folder, () => open(tmp, 'wx'));
    try {
      try {
        await handle.writeFile(body);
        await handle.sync();
      } finally {
        await handle.close();
      }
      return tmp;
    } catch (error) {
      await removeFile(tmp);
      throw error;
    }
  }

  return {
    location,
    put: (key, body) =>
      guard(`write ${key}`, async () => {
        const path = toPath(key);
        const tmp = await writeTmpFile(body);
        try {
          await inFolder(dirname(path), () => rename(tmp, path));
        } catch (error) {
          await removeFile(tmp);
          throw error;
        }
        await syncFolder(dirname(path));
        return { etag: toEtag(body) };
      }),
    isOfEtag: (etag, body) => etag === toEtag(body),
    create: (key, body) =>
      guard(`create ${key}`, async () => {
        const path = toPath(key);
        const tmp = await writeTmpFile(body);
        try {
          // Unlike rename, link refuses an existing name: of any number of concurrent creators exactly one wins.
          await inFolder(dirname(path), () => link(tmp, path));
        } catch (error) {
          if (getErrorCode(error) === 'EEXIST') return false;
          throw toLinkError(error, location, key);
        } finally {
          await removeFile(tmp);
        }
        await syncFolder(dirname(path));
        return true;
      }),
    get: (key, take) =>
      guard(`read ${key}`, async () => {
        try {
          return await (take ? readInto(toPath(key), take) : readFile(toPath(key)));
        } catch (error) {
          if (isMissing(error)) return undefined;
          throw error;
        }
      }),
    getRange: (key, offset, length) =>
      guard(`read ${key}`, async () => {
        const buffer = Buffer.allocUnsafe(length);
        const handle = await open(toPath(key), 'r').catch((error: unknown) => {
          throw isMissing(error) ? new SourceError(`${location}: ${key} is gone`, error) : error;
        });
        try {
          const read = await readFully(handle, buffer, offset);
          if (read < length) {
            throw new SourceError(
              `${location}: ${key} ends at byte ${offset + read}, but bytes up to ${offset + length} were requested`,
            );
          }
          return buffer;
        } finally {
          await handle.close();
        }
      }),
    list: (prefix) => listFolder(root, assertPrefix(prefix), guard),
    freeBytes: () =>
      guard('look for free space', async () => {
        const { bavail, bsize } = await statfs(await findExisting(root));
        return bavail * bsize;
      }),
    assertWritable: () =>
      guard('write there', async () => {
        try {
          await removeFile(await writeTmpFile(Buffer.alloc(0)));
        } catch (error) {
          if (FORBIDDEN.has(getErrorCode(error) ?? '')) throw error;
        }
      }),
    remove: (key) => guard(`remove ${key}`, () => removeFile(toPath(key))),
  };
}

const toEtag = (body: Uint8Array): string => `${body.length}-${crc32(body).toString(16)}`;

type Guard = <T>(doing: string, work: () => Promise<T>) => Promise<T>;

async function* listFolder(
  root: string,
  prefix: string,
  guard: Guard,
): AsyncGenerator<{ key: string; bytes: number }> {
  const entries = await guard(`list ${prefix}`, () => readFolder(join(root, dirname(`${prefix}x`))));
  const parent = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  // Key order puts "a-b/c" before "a/b", which a plain sort of names would not: folders sort with their slash.
  const names = entries
    .filter((entry) => entry.isFile() || (entry.isDirectory() && parent + entry.name !== TMP))
    .map((entry) => parent + entry.name + (entry.isDirectory() ? '/' : ''))
    .filter((name) => name.startsWith(prefix))
    .sort((a, b) => (a < b ? -1 : 1));
  for (const name of names) {
    if (name.endsWith('/')) {
      yield* listFolder(root, name, guard);
      continue;
    }
    const bytes = await guard(`list ${name}`, () => loadSize(join(root, name)));
    if (bytes !== undefined) yield { key: name, bytes };
  }
}

/** Does `work` in a folder, which is made first where there is none: asking for it each time costs as much as the work. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMissing(error)) throw error;
    await makeFolder(folder);
    return work();
  }
}

/** Does nothing when there is no such file. */
async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** The folder, or the one that it will be created in. */
async function findExisting(path: string): Promise<string> {
  const parent = dirname(path);
  return parent === path || (await loadSize(path)) !== undefined ? path : findExisting(parent);
}

async function readFolder(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Undefined when the file was removed since its folder was read. */
async function loadSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function readInto(path: string, take: (bytes: number) => Buffer): Promise<Buffer> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const body = take(size).subarray(0, size);
    return body.subarray(0, await readFully(handle, body, 0));
  } finally {
    await handle.close();
  }
}

async function readFully(
  handle: Awaited<ReturnType<typeof open>>,
  buffer: Buffer,
  offset: number,
): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

const toLinkError = (error: unknown, location: string, key: string): unknown => {
  const why = explainNoLinks(error);
  return why === undefined
    ? error
    : new ConfigError(
        `${location} cannot be used (could not create ${key}): ${why}. Set BACKHAUL_DATA_DIR to a folder elsewhere`,
        error,
      );
};

/** Makes a new name survive a power failure, where the file system can. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (!NO_FOLDER_SYNC.has(getErrorCode(error) ?? '')) throw error;
  } finally {
    await handle.close();
  }
}

/** Removes files of killed processes; recent files may belong to a running one. */
async function sweep(folder: string): Promise<void> {
  for (const entry of await readFolder(folder)) {
    const path = join(folder, entry.name);
    const info = await stat(path).catch(() => undefined);
    if (info && Date.now() - info.mtimeMs > STALE_TMP_MS) await removeFile(path);
  }
}

async function translateErrors<T>(location: string, doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFolderError(error, location, doing);
  }
}

const isMissing = (error: unknown) => getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR';

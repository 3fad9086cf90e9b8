import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { Slice } from '../../contract/slice.ts';
import { ConfigError, getMessage, SourceError, UnavailableError } from '../../lib/errors.ts';
import { explainOpenFiles } from '../../lib/open-files.ts';
import type { ByteRange, SourceFile } from './source-file.ts';

const CHUNK_BYTES = 512 * 1024;

export function createLocalFile(
  path: string,
  { name, bytes, modified }: Pick<Slice, 'name' | 'bytes' | 'modified'>,
): SourceFile {
  /** Half of an old and half of a new file would make records that never were. */
  const assertUnchanged = async (handle?: FileHandle) => {
    const now = await (handle ? handle.stat() : stat(path));
    if (now.size !== bytes || now.mtime.toISOString() !== modified) {
      throw new SourceError(
        `${name} changed since it was listed (${bytes} bytes of ${modified}, now ${now.size} bytes of ${now.mtime.toISOString()}); start again once nothing writes to it`,
      );
    }
  };

  const readOnce = async (offset: number, length: number): Promise<Buffer> => {
    const buffer = Buffer.allocUnsafe(length);
    const handle = await open(path, 'r');
    try {
      await assertUnchanged(handle);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
        if (bytesRead === 0) {
          throw new SourceError(`${name} ends at byte ${offset + filled}, before byte ${offset + length}`);
        }
        filled += bytesRead;
      }
      await assertUnchanged(handle);
    } finally {
      await handle.close();
    }
    return buffer;
  };

  return {
    name,
    bytes,
    async *open(range?: ByteRange) {
      try {
        const { start, end } = range ?? { start: 0, end: bytes };
        if (end <= start) return await assertUnchanged();
        if (end - start <= CHUNK_BYTES) {
          yield await readOnce(start, end - start);
          return;
        }
        await assertUnchanged();
        const stream = createReadStream(path, {
          highWaterMark: CHUNK_BYTES,
          ...(range ? { start, end: end - 1 } : {}),
        });
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          // Before anybody has it: a part with records of two files could never be completed.
          await assertUnchanged();
          yield chunk;
        }
        await assertUnchanged();
      } catch (error) {
        throw explain(error, name, path);
      }
    },
    async readAt(offset, length) {
      try {
        return await readOnce(offset, length);
      } catch (error) {
        throw explain(error, name, path);
      }
    },
  };
}

function explain(error: unknown, name: string, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new SourceError(`${name} is gone (looked at ${path}); put it back, or change source.from`, error);
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new ConfigError(`${name} may not be read: give this user the right to read ${path}`, error);
  }
  if (code === 'EIO' || code === 'ESTALE') {
    return new SourceError(
      `${name} cannot be read (${getMessage(error)}); check the disk under ${path}`,
      error,
    );
  }
  const noFiles = explainOpenFiles(error);
  return noFiles === undefined
    ? error
    : new UnavailableError(`${name} cannot be read: ${noFiles}`, 'backoff', error);
}

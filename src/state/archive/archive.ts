import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline as pipe, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { getMessage, SourceError } from '../../lib/errors.ts';
import { encodeDocument } from '../document.ts';
import { encodeTarFile, readTar, TAR_END, type TarFile } from './tar.ts';

/*
 * Objects of staging in one file: a gzipped tar whose first file says what follows, and whose last one has the
 * number of the others and one digest over all of them. `tar tzf` lists it. Names ascend, so no object comes twice.
 */

const FORMAT = 1;
const FIRST = 'backhaul-export.json';
const LAST = 'backhaul-export-sums.json';

const sums = z.strictObject({
  files: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
  /** Over name, length and body of each, the first one included. */
  sha256: z.string(),
});
export type ArchiveSums = z.infer<typeof sums>;

/** Compressing further what is compressed already costs time and saves nothing. */
const GZIP_LEVEL = 1;
/** Only its owner may read it: it holds records of an export. */
const MODE = 0o600;

/** Replaces the file at `path`. Takes the objects one at a time, as fast as the disk does. */
export async function writeArchive(
  path: string,
  head: object,
  objects: AsyncIterable<TarFile>,
  signal: AbortSignal,
): Promise<ArchiveSums> {
  const counted = createSums();
  async function* encode(): AsyncGenerator<Buffer> {
    const first = { name: FIRST, body: encodeDocument({ format: FORMAT, ...head }) };
    counted.add(first);
    yield* encodeTarFile(first);
    for await (const object of objects) {
      counted.add(object);
      yield* encodeTarFile(object);
    }
    yield* encodeTarFile({ name: LAST, body: encodeDocument(counted.end()) });
    yield TAR_END;
  }
  const file = createWriteStream(path, { mode: MODE, flush: true });
  await pipeline(Readable.from(encode()), createGzip({ level: GZIP_LEVEL }), file, { signal });
  return counted.end();
}

/**
 * The objects of an archive, in their order. `onHead` sees what its first file says before the first object comes.
 * Throws SourceError, without the name of the file, for whatever is not exactly what was written; that may be found
 * only at the end.
 */
export async function* readArchive(
  path: string,
  onHead: (head: unknown) => void,
): AsyncGenerator<TarFile, ArchiveSums> {
  const counted = createSums();
  let before: string | undefined;
  let end: ArchiveSums | undefined;
  try {
    for await (const file of readTar(unpack(path))) {
      if (end) throw new SourceError('something stands behind its end');
      if (before === undefined) {
        onHead(parseHead(file));
        counted.add(file);
        before = '';
      } else if (file.name === LAST) {
        end = parseJson(sums, file);
        if (JSON.stringify(end) !== JSON.stringify(counted.end()))
          throw new SourceError('its contents are not those that it was written with');
      } else {
        if (file.name <= before) throw new SourceError(`${JSON.stringify(file.name)} in it is out of order`);
        before = file.name;
        counted.add(file);
        yield file;
      }
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw new SourceError(`it cannot be unpacked (${getMessage(error)})`, error);
    throw error;
  }
  if (!end) throw new SourceError(before === undefined ? 'it is empty' : 'its end is missing');
  return end;
}

function unpack(path: string): AsyncIterable<Buffer> {
  const unpacked = createGunzip();
  // Whoever reads `unpacked` is told of the errors of both, and may stop before the end.
  pipe(createReadStream(path), unpacked, () => {});
  return unpacked;
}

const anyHead = z.looseObject({ format: z.number(), writtenBy: z.string().optional() });

function parseHead(file: TarFile): unknown {
  if (file.name !== FIRST) throw new SourceError(`it does not begin with ${FIRST}`);
  const { format, ...head } = parseJson(anyHead, file);
  if (format === FORMAT) return head;
  throw new SourceError(
    `version ${head.writtenBy ?? 'unknown'} of Backhaul wrote it, in a form that this version does not know: use that one, or a later, here as well`,
  );
}

function parseJson<T>(schema: z.ZodType<T>, { name, body }: TarFile): T {
  try {
    return schema.parse(JSON.parse(body.toString('utf8')));
  } catch (error) {
    throw new SourceError(`${name} in it is not what Backhaul writes there`, error);
  }
}

function createSums() {
  const digest = createHash('sha256');
  let files = 0;
  let bytes = 0;
  return {
    add({ name, body }: TarFile): void {
      files += 1;
      bytes += body.length;
      digest.update(`${name}\n${body.length}\n`).update(body);
    },
    end: (): ArchiveSums => ({ files, bytes, sha256: digest.copy().digest('hex') }),
  };
}

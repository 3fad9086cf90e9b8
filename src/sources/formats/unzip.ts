import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import {
  type Entry,
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  type ZipFile,
} from 'yauzl';
import { BackhaulError, getMessage, SourceError } from '../../lib/errors.ts';
import { compareNaturally } from '../files/natural-order.ts';
import type { SourceFile } from '../files/source-file.ts';
import { cleanName } from './member-name.ts';

export interface ZipMember {
  readonly name: string;
  /** Of the archive: all members together take up all of it. */
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly open: () => AsyncIterable<Buffer>;
}

/**
 * The members of a zip in natural order; folders and what macOS adds are skipped. Members are read
 * by range where they are stored, so that a zip on S3 needs no local copy. `onBytes` sees each member's name
 * and then its stored bytes.
 */
export async function* zipMembers(
  file: SourceFile,
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<ZipMember> {
  const zip = await openZip(file, onBytes);
  try {
    const members: { name: string; entry: Entry }[] = [];
    for await (const entry of zip.eachEntry()) {
      const name = decodeName(entry);
      // A folder has no content; a name may end in a slash all the same.
      if (name.endsWith('/') && entry.uncompressedSize === 0) continue;
      if (!isNoise(name)) members.push({ name: cleanName(name), entry });
    }
    await assertDirectoryEnds(zip, file);
    members.sort((a, b) => compareNaturally(a.name, b.name));
    const packed = members.reduce((sum, { entry }) => sum + entry.compressedSize, 0);
    for (const { name, entry } of members) {
      yield {
        name,
        bytes: packed === 0 ? 0 : (file.bytes * entry.compressedSize) / packed,
        unpackedBytes: entry.uncompressedSize,
        open: () => {
          onBytes(Buffer.from(`${name}\n`));
          return readMember(zip, entry, `${file.name}, member ${name}`);
        },
      };
    }
  } catch (error) {
    throw error instanceof BackhaulError ? error : damaged(file.name, error);
  } finally {
    zip.close();
  }
}

async function openZip(file: SourceFile, onBytes: (bytes: Buffer) => void): Promise<ZipFile> {
  try {
    return await fromRandomAccessReaderPromise(new SourceReader(file, onBytes), file.bytes, {
      autoClose: false,
      // Names are decoded here: yauzl refuses a whole archive for one name that climbs out of a
      // folder, but no member is ever written to a disk, so such a name can do no harm once cleaned.
      decodeStrings: false,
    });
  } catch (error) {
    throw error instanceof BackhaulError ? error : damaged(file.name, error);
  }
}

const MEMBER = '504b0304';
const DIRECTORY_ENTRY = '504b0102';
const END_OF_DIRECTORY = '504b0506';
const END_BYTES = 22;

/**
 * The number of members that an archive states has 16 bits. Programs that write no zip64 state the rest of
 * 70,000 members, and archives that were put one behind the other may be read as one of them. A comment that holds
 * the end of an empty archive makes any archive empty.
 */
async function assertDirectoryEnds(zip: ZipFile, file: SourceFile): Promise<void> {
  const at = Number(zip.readEntryCursor); // the types call it a boolean
  const next = (await file.readAt(at, Math.min(4, file.bytes - at))).toString('hex');
  const endsFile = at + END_BYTES + Buffer.byteLength(zip.comment) === file.bytes;
  if (next === MEMBER || next === DIRECTORY_ENTRY || (next === END_OF_DIRECTORY && !endsFile)) {
    throw damaged(file.name, new Error(`it states ${zip.entryCount} members, and holds more`));
  }
}

async function* readMember(zip: ZipFile, entry: Entry, where: string): AsyncGenerator<Buffer> {
  if (entry.isEncrypted()) {
    throw new SourceError(
      `${where} is encrypted; unpack the archive with its password, and name the unpacked files`,
    );
  }
  let checksum = 0;
  try {
    const stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof BackhaulError ? error : damaged(where, error);
  }
  if (checksum !== entry.crc32) throw damaged(where, new Error('its checksum does not match'));
}

const damaged = (where: string, error: unknown) =>
  new SourceError(
    `${where} is a damaged or unusual zip (${getMessage(error)}); fetch it again, or unpack it and name the unpacked files`,
    error,
  );

const decodeName = (entry: Entry): string =>
  getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);

/** Resource forks and folder views that macOS packs along. */
const isNoise = (name: string) => name.startsWith('__MACOSX/') || name.split('/').at(-1) === '.DS_Store';

const BLOCK_BYTES = 256 * 1024;

/**
 * Serves the directory's many small reads from a few blocks, and so small members, of which one block holds many; large
 * ones as streams. On S3 each block and each stream is a request.
 */
class SourceReader extends RandomAccessReader {
  private readonly file: SourceFile;
  private readonly onBytes: (bytes: Buffer) => void;
  private readonly blocks = new Map<number, Promise<Buffer>>();

  constructor(file: SourceFile, onBytes: (bytes: Buffer) => void) {
    super();
    this.file = file;
    this.onBytes = onBytes;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.tapped(start, end), { highWaterMark: 1 });
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.copy(buffer, offset, length, position).then(
      () => callback(null),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null);
  }

  private async *tapped(start: number, end: number): AsyncGenerator<Buffer> {
    const chunks = end - start > BLOCK_BYTES ? this.file.open({ start, end }) : this.readSmall(start, end);
    for await (const chunk of chunks) {
      this.onBytes(chunk);
      yield chunk;
    }
  }

  private async *readSmall(start: number, end: number): AsyncGenerator<Buffer> {
    const bytes = Buffer.allocUnsafe(end - start);
    await this.copy(bytes, 0, bytes.length, start);
    yield bytes;
  }

  private async copy(target: Buffer, offset: number, length: number, position: number): Promise<void> {
    for (let done = 0; done < length; ) {
      const at = position + done;
      const number = Math.floor(at / BLOCK_BYTES);
      const block = await this.block(number);
      const from = at - number * BLOCK_BYTES;
      if (from >= block.length) throw new Error(`it ends before byte ${position + length}`);
      done += block.copy(target, offset + done, from, from + length - done);
    }
  }

  private block(number: number): Promise<Buffer> {
    const known = this.blocks.get(number);
    if (known) return known;
    const start = number * BLOCK_BYTES;
    const length = Math.max(0, Math.min(BLOCK_BYTES, this.file.bytes - start));
    const block = this.file.readAt(start, length);
    this.blocks.set(number, block);
    for (const oldest of this.blocks.keys()) {
      if (this.blocks.size <= 4) break;
      this.blocks.delete(oldest);
    }
    return block;
  }
}

import { SourceError } from '../../lib/errors.ts';

/*
 * Files of a POSIX tar (ustar), one after the other, each whole in memory.
 * https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
 */

export interface TarFile {
  readonly name: string;
  readonly body: Buffer;
}

const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
/** Objects of staging are cut to a few MiB; what is larger by far is none. */
const MAX_BODY_BYTES = 1 << 30;
const REGULAR_FILES = ['0', '\0'];

/** Header, body and padding of one file; owner, time and mode say nothing. Names are ASCII. */
export function encodeTarFile({ name, body }: TarFile): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const { prefix, rest } = splitName(name);
  const write = (text: string, at: number) => header.write(text, at, 'latin1');
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  write(rest, 0);
  write(octal(0o600, 7), 100);
  write(octal(0, 7), 108);
  write(octal(0, 7), 116);
  write(octal(body.length, 11), 124);
  write(octal(0, 11), 136);
  write('0', 156);
  write('ustar\x0000', 257);
  write(prefix, 345);
  write(`${octal(addUp(header), 6)} `, 148);
  return [header, body, Buffer.alloc(padding(body.length))];
}

/** What stands behind the last file. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);

/** Reads what `encodeTarFile` wrote, and such files of other programs. Throws SourceError for anything else. */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
  const stream = createTaker(chunks);
  try {
    for (;;) {
      const header = await stream.take(BLOCK);
      if (header.every((byte) => byte === 0)) break;
      const { name, bytes } = parseHeader(header);
      const body = await stream.take(bytes);
      await stream.take(padding(bytes));
      yield { name, body };
    }
    await stream.drain();
  } finally {
    await stream.close();
  }
}

function parseHeader(header: Buffer): { readonly name: string; readonly bytes: number } {
  const text = (from: number, to: number) => header.toString('latin1', from, to).replace(/\0.*$/s, '');
  if (text(257, 262) !== 'ustar' || Number.parseInt(text(148, 156), 8) !== addUp(header))
    throw new SourceError('a header in it is damaged');
  const name = [text(345, 500), text(0, 100)].filter(Boolean).join('/');
  if (!REGULAR_FILES.includes(header.toString('latin1', 156, 157)))
    throw new SourceError(`${JSON.stringify(name)} in it is no file`);
  const bytes = Number.parseInt(text(124, 136), 8);
  if (!(bytes >= 0 && bytes <= MAX_BODY_BYTES))
    throw new SourceError(`${JSON.stringify(name)} in it is too large`);
  return { name, bytes };
}

/** The sum of the bytes of a header, its own field taken for blanks. */
function addUp(header: Buffer): number {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte;
  return sum;
}

const padding = (bytes: number): number => (BLOCK - (bytes % BLOCK)) % BLOCK;

function splitName(name: string): { readonly prefix: string; readonly rest: string } {
  if (name.length <= NAME_BYTES) return { prefix: '', rest: name };
  const at = name.indexOf('/', name.length - NAME_BYTES - 1);
  if (at < 1 || at > PREFIX_BYTES) throw new SourceError(`${JSON.stringify(name)} is too long for a tar`);
  return { prefix: name.slice(0, at), rest: name.slice(at + 1) };
}

/** Takes exactly so many bytes of a stream. */
function createTaker(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return {
    async take(bytes: number): Promise<Buffer> {
      const taken: Buffer[] = [];
      let missing = bytes;
      while (missing > 0) {
        if (rest.length === 0) {
          const next = await iterator.next();
          if (next.done) throw new SourceError('it ends too early');
          rest = next.value;
        }
        const some = rest.subarray(0, missing);
        rest = rest.subarray(some.length);
        missing -= some.length;
        taken.push(some);
      }
      return taken.length === 1 && taken[0] ? taken[0] : Buffer.concat(taken, bytes);
    },
    /** To the end of the stream, whose own checksum stands there. */
    async drain(): Promise<void> {
      while (!(await iterator.next()).done);
    },
    close: async () => void (await iterator.return?.()),
  };
}

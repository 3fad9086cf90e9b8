import { crc32, createInflateRaw } from 'node:zlib';
import { getMessage, SourceError } from '../../lib/errors.ts';
import { measureGzipHeader } from './gzip-header.ts';

const OUTPUT_BYTES = 512 * 1024;
/** Input is fed in pieces, so that one piece cannot inflate to more than about 32 MiB before it is passed on. */
const PIECE_BYTES = 32 * 1024;
/** Checksum and length of the text. */
const TRAILER_BYTES = 8;
const NONE = Buffer.alloc(0);

const FETCH_AGAIN =
  'fetch it again and resume, or run the other files under a new name without it (nothing is delivered twice)';

/** Something else follows whole members: all text was read, its last record too. */
export class TrailingGarbageError extends SourceError {
  constructor(where: string, position: number) {
    super(
      `${where} is gzip up to byte ${position}, but what follows there is no gzip; everything before it is read. If it is rubbish, cut it off (head -c ${position}) and resume; else ${FETCH_AGAIN}`,
    );
  }
}

/**
 * All members of a gzip stream, one after the other. What was inflated before a fault is yielded
 * before the SourceError: whole members, and of a damaged one all but the piece of input that holds
 * the fault. Members are separated here because Node's gunzip drops the end of a member together
 * with the garbage behind it. Zero bytes between and behind members are the padding of tapes and
 * block devices and are passed over, as gzip(1) does. Before each piece of text, `onTaken` is told how many
 * bytes of the input it took up; those of a piece of input are shared out by the text that it holds.
 */
export async function* gunzip(
  source: AsyncIterable<Buffer>,
  where: string,
  onTaken: (bytes: number) => void = () => {},
): AsyncGenerator<Buffer> {
  let position = 0;
  let rest: Buffer = NONE;
  let member: Member | undefined;
  const advance = (bytes: number) => {
    position += bytes;
    rest = rest.subarray(bytes);
  };
  const damaged = (why: string, cause?: unknown) =>
    new SourceError(`${where} is damaged gzip at byte ${position} (${why}); ${FETCH_AGAIN}`, cause);

  try {
    for await (const chunk of source) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length > 0) {
        if (!member) {
          advance(leadingZeros(rest));
          if (rest.length === 0) break;
          const header = measureGzipHeader(rest);
          if (header === 'unfinished') break;
          if (header === 'no_gzip')
            throw position === 0
              ? damaged('it has no gzip header')
              : new TrailingGarbageError(where, position);
          member = createMember();
          advance(header);
          onTaken(header);
        } else if (!member.isInflated()) {
          const { consumed, outputs, error } = await member.write(rest.subarray(0, PIECE_BYTES));
          const textBytes = outputs.reduce((sum, { length }) => sum + length, 0);
          if (outputs.length === 0) onTaken(consumed);
          for (const output of outputs) {
            onTaken((consumed * output.length) / textBytes);
            yield output;
          }
          if (error !== undefined) throw damaged(getMessage(error), error);
          advance(consumed);
        } else {
          if (rest.length < TRAILER_BYTES) break;
          if (!member.matches(rest)) throw damaged('its checksum does not match');
          advance(TRAILER_BYTES);
          onTaken(TRAILER_BYTES);
          member.close();
          member = undefined;
        }
      }
    }
    if (member && !member.isInflated()) yield* await member.end();
    if (member || rest.length > 0) throw damaged('it ends too early');
  } finally {
    member?.close();
  }
}

interface Inflated {
  readonly consumed: number;
  readonly outputs: readonly Buffer[];
  readonly error: unknown;
}

interface Member {
  write(piece: Buffer): Promise<Inflated>;
  /** What is left of a member that was cut off. */
  end(): Promise<readonly Buffer[]>;
  /** Whether all text was seen, so that the trailer comes next. */
  isInflated(): boolean;
  matches(trailer: Buffer): boolean;
  close(): void;
}

function createMember(): Member {
  const stream = createInflateRaw({ chunkSize: OUTPUT_BYTES });
  let outputs: Buffer[] = [];
  let failure: unknown;
  let checksum = 0;
  let textBytes = 0;
  let isInflated = false;
  stream.on('data', (chunk: Buffer) => {
    checksum = crc32(chunk, checksum);
    textBytes += chunk.length;
    outputs.push(chunk);
  });
  // A write that meets damage is never called back.
  let settled = () => {};
  stream.on('error', (error) => {
    failure = error;
    settled();
  });
  const take = () => {
    const taken = outputs;
    outputs = [];
    return taken;
  };
  return {
    async write(piece) {
      const before = stream.bytesWritten;
      await new Promise<void>((resolve) => {
        settled = resolve;
        stream.write(piece, () => resolve());
      });
      const consumed = stream.bytesWritten - before;
      // Bytes are left over only behind the end of the text.
      isInflated = failure === undefined && consumed < piece.length;
      return { consumed, outputs: take(), error: failure };
    },
    async end() {
      await new Promise<void>((resolve) => {
        stream.once('end', resolve).once('close', resolve);
        stream.end();
      });
      return take();
    },
    isInflated: () => isInflated,
    matches: (trailer) =>
      trailer.readUInt32LE(0) === checksum && trailer.readUInt32LE(4) === textBytes % 2 ** 32,
    close: () => stream.destroy(),
  };
}

function leadingZeros(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && bytes[count] === 0) count += 1;
  return count;
}

import { crc32, createInflateRaw } from 'node:zlib';
import { getMessage, SourceError } from '../../lib/errors.ts';
import { measureGzipHeader } from './gzip-header.ts';
import { markText } from './text-memory.ts';

const OUTPUT_BYTES = 512 * 1024;
/** Input is fed in pieces: each is a round trip to the thread pool. */
const PIECE_BYTES = 256 * 1024;
/** Text of one piece that is passed on before the rest of it is inflated, whatever the piece inflates to. */
const PASS_ON_BYTES = 4 * 1024 * 1024;
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
          let inflated = await member.write(rest.subarray(0, PIECE_BYTES));
          for (;;) {
            const { consumed, outputs, error } = inflated;
            const textBytes = outputs.reduce((sum, { length }) => sum + length, 0);
            if (outputs.length === 0) onTaken(consumed);
            for (const output of outputs) {
              onTaken((consumed * output.length) / textBytes);
              yield output;
            }
            if (error !== undefined) throw damaged(getMessage(error), error);
            advance(consumed);
            if (inflated.isWhole) break;
            inflated = await member.more();
          }
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
  /** False when there is more text of the piece: see `more`. */
  readonly isWhole: boolean;
  readonly outputs: readonly Buffer[];
  readonly error: unknown;
}

interface Member {
  write(piece: Buffer): Promise<Inflated>;
  /** Continues with the piece that was written last. */
  more(): Promise<Inflated>;
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
  let outputBytes = 0;
  let failure: unknown;
  let checksum = 0;
  let textBytes = 0;
  let isInflated = false;
  /** Of the piece under way: bytes that are not inflated yet, and whether the stream asks for the next one. */
  let leftBytes = 0;
  let isTaken = true;
  let inflatedBefore = 0;
  let isEnding = false;
  let settled = () => {};
  stream.on('data', (chunk: Buffer) => {
    checksum = crc32(chunk, checksum);
    markText(chunk);
    textBytes += chunk.length;
    outputs.push(chunk);
    outputBytes += chunk.length;
    if (outputBytes < PASS_ON_BYTES || isEnding) return;
    stream.pause(); // nothing more is inflated until it is resumed
    settled();
  });
  // A write that meets damage is never called back.
  stream.on('error', (error) => {
    failure = error;
    settled();
  });
  const takeOutputs = () => {
    const all = outputs;
    outputs = [];
    outputBytes = 0;
    return all;
  };
  const take = (): Inflated => {
    const consumed = stream.bytesWritten - inflatedBefore;
    inflatedBefore = stream.bytesWritten;
    leftBytes -= consumed;
    const isWhole = isTaken && stream.readableLength === 0;
    // Bytes are left over only behind the end of the text.
    isInflated = failure === undefined && isWhole && leftBytes > 0;
    return { consumed, isWhole, outputs: takeOutputs(), error: failure };
  };
  return {
    async write(piece) {
      leftBytes = piece.length;
      isTaken = false;
      await new Promise<void>((resolve) => {
        settled = resolve;
        stream.resume();
        stream.write(piece, () => {
          isTaken = true;
          settled();
        });
      });
      return take();
    },
    async more() {
      await new Promise<void>((resolve) => {
        settled = resolve;
        stream.resume();
        // Of a piece that is taken only text is left, which comes in this turn.
        if (isTaken) setImmediate(resolve);
      });
      return take();
    },
    async end() {
      isEnding = true;
      await new Promise<void>((resolve) => {
        stream.once('end', resolve).once('close', resolve);
        stream.resume();
        stream.end();
      });
      return takeOutputs();
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

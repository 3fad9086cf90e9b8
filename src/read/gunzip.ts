import { createGunzip, type Gunzip } from 'node:zlib';
import { messageOf, SourceError } from '../errors.ts';

const OUTPUT_BYTES = 512 * 1024;
/** Input is fed in pieces, so that one piece cannot inflate to more than about 32 MiB before it is passed on. */
const PIECE_BYTES = 32 * 1024;

/**
 * All members of a gzip stream, one after the other. What was inflated before a fault is yielded
 * before the SourceError, but for the piece of input that holds the fault. Node stops for good at
 * zero padding and would silently leave out members behind it; here they are read.
 */
export async function* gunzip(source: AsyncIterable<Buffer>, where: string): AsyncGenerator<Buffer> {
  let position = 0;
  let engine: Engine | undefined;
  const fault = (why: string, cause?: unknown) =>
    new SourceError(
      `${where} is damaged gzip at byte ${position + (engine?.consumed() ?? 0)} (${why}); fetch it again and resume, or run the other files under a new name without it (nothing is delivered twice)`,
      cause,
    );

  try {
    for await (const chunk of source) {
      for (let rest = chunk; rest.length > 0; ) {
        if (!engine) {
          const zeros = leadingZeros(rest);
          position += zeros;
          rest = rest.subarray(zeros);
          if (rest.length === 0) break;
          engine = createEngine();
        }
        const piece = rest.subarray(0, PIECE_BYTES);
        const { consumed, outputs, error } = await engine.write(piece);
        yield* outputs;
        if (error !== undefined) throw fault(messageOf(error), error);
        rest = rest.subarray(consumed);
        if (consumed < piece.length) {
          position += engine.consumed();
          engine.close();
          engine = undefined;
        }
      }
    }
    if (engine) {
      const { outputs, error } = await engine.end();
      yield* outputs;
      if (error !== undefined) {
        throw fault(
          error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
            ? 'it ends too early'
            : messageOf(error),
          error,
        );
      }
    }
  } finally {
    engine?.close();
  }
}

interface Inflated {
  /** Less than was given: the last member ended before padding. */
  readonly consumed: number;
  readonly outputs: readonly Buffer[];
  readonly error: unknown;
}

interface Engine {
  write(piece: Buffer): Promise<Inflated>;
  end(): Promise<Inflated>;
  consumed(): number;
  close(): void;
}

function createEngine(): Engine {
  const stream: Gunzip = createGunzip({ chunkSize: OUTPUT_BYTES });
  let outputs: Buffer[] = [];
  let failure: unknown;
  stream.on('data', (chunk: Buffer) => outputs.push(chunk));
  // A write that meets damage is never called back.
  let settled = () => {};
  stream.on('error', (error) => {
    failure = error;
    settled();
  });
  const settle = (before: number): Inflated => {
    const inflated = { consumed: stream.bytesWritten - before, outputs, error: failure };
    outputs = [];
    return inflated;
  };
  return {
    async write(piece) {
      const before = stream.bytesWritten;
      await new Promise<void>((resolve) => {
        settled = resolve;
        stream.write(piece, () => resolve());
      });
      return settle(before);
    },
    async end() {
      const before = stream.bytesWritten;
      await new Promise<void>((resolve) => {
        stream.once('end', resolve).once('close', resolve);
        stream.end();
      });
      return settle(before);
    },
    consumed: () => stream.bytesWritten,
    close: () => stream.destroy(),
  };
}

function leadingZeros(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && bytes[count] === 0) count += 1;
  return count;
}

import { cutShort, tooLarge } from './errors.ts';

/**
 * The whole body of a request; refused as soon as it, or the length it announces, passes `maxBytes`.
 * `onBytes` is called before each piece is kept, and may throw.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  if (request.body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readPieces(request.body)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    onBytes?.(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** A client that disconnects is not a fault of the server. */
async function* readPieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw cutShort(error);
  }
}

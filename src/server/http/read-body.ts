import { isUtf8 } from 'node:buffer';
import { cutShort, tooLarge } from './errors.ts';

/** Bodies of at most this length that announce it are read in one piece. */
const ONE_PIECE_BYTES = 64 * 1024;

/**
 * The whole body of a request. `onBytes` hears of every piece before it is kept, and may refuse it by a throw.
 * A small body is one piece: to make it a stream costs several times what most requests cost otherwise.
 *
 * @throws ApiError 413 as soon as the body, or the length it announces, passes `maxBytes`; 400 when the
 * client goes away
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? Number.NaN);
  if (announced > maxBytes) throw tooLarge();
  if (announced <= ONE_PIECE_BYTES) {
    const body = await readWhole(request);
    if (body.length > maxBytes) throw tooLarge();
    onBytes?.(body.length);
    return body;
  }
  if (request.body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(request.body)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    onBytes?.(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

async function readWhole(request: Request): Promise<Buffer> {
  try {
    return Buffer.from(await request.arrayBuffer());
  } catch (error) {
    throw cutShort(error);
  }
}

/** A client that goes away is no fault of the server, which would log it as one. */
async function* readChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw cutShort(error);
  }
}

/** Text of a body, without the byte order mark that some editors put in front; undefined when it is not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/**
 * The fields of a form, urlencoded or multipart as its content type says.
 *
 * @throws TypeError for what is no such form
 */
export function decodeForm(bytes: Buffer, contentType: string): Promise<FormData> {
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData();
}

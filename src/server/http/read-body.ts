import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { cutShort, tooLarge } from './errors.ts';
import { getIncoming, type RequestSource } from './incoming.ts';

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
  source: RequestSource,
  maxBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<Buffer> {
  const request = source.req.raw;
  const announced = Number(request.headers.get('content-length') ?? Number.NaN);
  if (announced > maxBytes) throw tooLarge();
  if (announced <= ONE_PIECE_BYTES) {
    const body = await readWhole(source);
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

async function readWhole(source: RequestSource): Promise<Buffer> {
  const { raw } = source.req;
  const incoming = getIncoming(source);
  try {
    // To a Request the body of GET is none, and that of a client that has gone may have come whole before.
    const isOnItsWay = incoming !== undefined && !incoming.destroyed && !incoming.readableDidRead;
    if (isOnItsWay && raw.method !== 'GET' && raw.method !== 'HEAD') return await collect(incoming);
    return Buffer.from(await raw.arrayBuffer());
  } catch (error) {
    throw cutShort(error);
  }
}

/** As `arrayBuffer` of a Request, which also copies the body, and takes several times as long. */
function collect(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const [first] = chunks;
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks));
    });
    incoming.on('error', reject);
    incoming.on('close', () => {
      if (!incoming.readableEnded) reject(new Error('the connection was closed'));
    });
  });
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

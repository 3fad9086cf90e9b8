import { tooLarge } from './refusal.ts';

/** Size of a request body as it travels, compressed or not. */
export const MAX_BODY_BYTES = 20 * 1024 * 1024;

/** The whole body; refused as soon as it, or the length it announces, passes the limit. */
export async function readBody(request: Request): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (request.body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/**
 * The text of a response body of at most `maxBytes`. Requests ask for no packing, but some proxies pack everything,
 * and an answer that nobody can read is no proof (I12). What cannot be unpacked is left as it is.
 * https://www.rfc-editor.org/rfc/rfc9110#field.content-encoding
 */
export function unpackBody(body: Buffer, encoding: string | undefined, maxBytes: number): string {
  const unpack = encoding === undefined ? undefined : UNPACK[encoding.trim().toLowerCase()];
  if (unpack === undefined) return body.toString('utf8');
  try {
    return unpack(body, maxBytes).toString('utf8');
  } catch {
    return body.toString('utf8');
  }
}

type Unpack = (body: Buffer, maxOutputLength: number) => Buffer;
const gunzip: Unpack = (body, maxOutputLength) => gunzipSync(body, { maxOutputLength });

const UNPACK: Readonly<Record<string, Unpack | undefined>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: (body, maxOutputLength) => inflateSync(body, { maxOutputLength }),
  br: (body, maxOutputLength) => brotliDecompressSync(body, { maxOutputLength }),
};

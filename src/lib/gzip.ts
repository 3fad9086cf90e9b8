import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** A whole body at a time, on the thread pool. */
export const gzip = promisify(zlib.gzip);
export const gunzip = promisify(zlib.gunzip);
const compressBrotli = promisify(zlib.brotliCompress);
export const unbrotli = promisify(zlib.brotliDecompress);

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;

/** At half the CPU of gzip's fastest level, and smaller. */
export const brotli = (body: Uint8Array): Promise<Buffer> =>
  compressBrotli(body, {
    chunkSize: 1024 * 1024,
    params: { [BROTLI_PARAM_QUALITY]: 1, [BROTLI_PARAM_SIZE_HINT]: body.length },
  });

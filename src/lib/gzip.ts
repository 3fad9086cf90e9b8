import { promisify } from 'node:util';
import zlib from 'node:zlib';

/** A whole body at a time, on the thread pool. */
export const gzip = promisify(zlib.gzip);
export const gunzip = promisify(zlib.gunzip);

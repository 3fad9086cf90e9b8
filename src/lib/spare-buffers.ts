/**
 * Memory of parts and requests, used again: a fresh buffer of megabytes costs as much as filling it, and V8 collects
 * all garbage whenever a few of them were made.
 */
const spare: Buffer[] = [];
/** Smaller ones are not worth it, and may share their memory. */
const LEAST_BYTES = 64 * 1024;
const MOST_SPARE_BYTES = 32 * 1024 * 1024;
let spareBytes = 0;

/** A buffer of at least so many bytes, with anything in it; the smallest spare one that is no waste. */
export function takeBuffer(bytes: number): Buffer {
  let best = -1;
  for (const [at, { length }] of spare.entries()) {
    if (length < bytes || length > Math.max(LEAST_BYTES, 4 * bytes)) continue;
    if (best === -1 || length < (spare[best]?.length ?? 0)) best = at;
  }
  const [found] = best === -1 ? [] : spare.splice(best, 1);
  if (!found) return Buffer.allocUnsafeSlow(roundUp(bytes));
  spareBytes -= found.length;
  return found;
}

/** To one of eight sizes between two powers of two: parts differ by a few bytes, and fit into one another's memory so. */
function roundUp(bytes: number): number {
  if (bytes < LEAST_BYTES) return bytes;
  const step = 2 ** (Math.floor(Math.log2(bytes)) - 3);
  return Math.ceil(bytes / step) * step;
}

/**
 * Takes a buffer, or a view from its start, back, once nobody refers to it any more. Where there are too many, those go
 * that nobody has asked for the longest.
 */
export function giveBuffer({ buffer }: Buffer): void {
  if (buffer.byteLength < LEAST_BYTES || buffer.byteLength > MOST_SPARE_BYTES) return;
  spareBytes += buffer.byteLength;
  spare.push(Buffer.from(buffer));
  while (spareBytes > MOST_SPARE_BYTES) spareBytes -= spare.shift()?.length ?? 0;
}

/** Leaves all of them to the collector of garbage: what comes next uses none as large. */
export function dropSpareBuffers(): void {
  spare.length = 0;
  spareBytes = 0;
}

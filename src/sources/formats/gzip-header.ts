const [FHCRC, FEXTRA, FNAME, FCOMMENT, RESERVED] = [0x02, 0x04, 0x08, 0x10, 0xe0];
const FIXED_BYTES = 10;
/** Far beyond any file name or comment: what is longer is no header. */
const HEADER_MAX_BYTES = 1024 * 1024;

/** How long the header of a gzip member is that these bytes begin with (RFC 1952, 2.3). */
export function measureGzipHeader(bytes: Buffer): number | 'unfinished' | 'no_gzip' {
  const begin = [0x1f, 0x8b, 0x08];
  if (begin.some((byte, index) => index < bytes.length && bytes[index] !== byte)) return 'no_gzip';
  const flags = bytes[3] ?? 0;
  if (flags & RESERVED) return 'no_gzip';

  let end = FIXED_BYTES;
  if (flags & FEXTRA) end += 2 + (bytes.length >= end + 2 ? bytes.readUInt16LE(end) : 0);
  for (const text of [FNAME, FCOMMENT]) {
    if ((flags & text) === 0) continue;
    const zero = bytes.indexOf(0, end);
    end = zero === -1 ? bytes.length + 1 : zero + 1;
  }
  if (flags & FHCRC) end += 2;
  if (end <= bytes.length) return end;
  return bytes.length > HEADER_MAX_BYTES ? 'no_gzip' : 'unfinished';
}

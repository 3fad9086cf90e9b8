import { peek } from './peek.ts';

/** UTF-8 without a byte order mark, whatever Unicode form the file has. */
export async function* decodeText(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const { head, bytes } = await peek(source, 3);
  const utf16 =
    head[0] === 0xff && head[1] === 0xfe ? 'le' : head[0] === 0xfe && head[1] === 0xff ? 'be' : undefined;
  let markBytes = utf16 ? 2 : head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const transcode = utf16 ? createTranscoder(utf16) : undefined;

  for await (const chunk of bytes) {
    const rest = chunk.subarray(markBytes);
    markBytes = 0;
    yield transcode ? transcode(rest) : rest;
  }
  const last = transcode?.(undefined);
  if (last && last.length > 0) yield last;
}

/** Called with each chunk, then once with undefined. Characters may straddle chunks. */
function createTranscoder(order: 'le' | 'be'): (chunk: Buffer | undefined) => Buffer {
  let carry = Buffer.alloc(0);
  return (chunk) => {
    const all = chunk ? Buffer.concat([carry, chunk]) : carry;
    let usable = all.length - (all.length % 2);
    const lastUnit =
      usable >= 2 ? (order === 'le' ? all.readUInt16LE(usable - 2) : all.readUInt16BE(usable - 2)) : 0;
    if (chunk && lastUnit >= 0xd800 && lastUnit <= 0xdbff) usable -= 2;
    carry = Buffer.from(all.subarray(usable));
    const units = Buffer.from(all.subarray(0, usable));
    if (order === 'be') units.swap16();
    const text = toUtf8(units.toString('utf16le'));
    // An odd last byte is no character; kept as a byte that is not UTF-8, so that its record is rejected.
    return !chunk && carry.length % 2 === 1 ? Buffer.concat([text, NOT_UTF8]) : text;
  };
}

const LONE_SURROGATE = /\p{Surrogate}/u;
const NOT_UTF8 = Buffer.from([0xff]);

/** Half a surrogate pair becomes a byte that is not UTF-8: its record is rejected, and not silently changed. */
function toUtf8(text: string): Buffer {
  if (!LONE_SURROGATE.test(text)) return Buffer.from(text, 'utf8');
  const pieces = text.split(LONE_SURROGATE).map((piece) => Buffer.from(piece, 'utf8'));
  return Buffer.concat(pieces.flatMap((piece, index) => (index === 0 ? [piece] : [NOT_UTF8, piece])));
}

import { peek } from './peek.ts';

/** Encodings that no byte order mark tells, so that a manifest declares them. */
export const ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'latin1', 'windows-1252'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** UTF-8 without a byte order mark. `encoding`: of files that begin with none; a mark is always believed. */
export async function* decodeText(
  source: AsyncIterable<Buffer>,
  encoding: Encoding = 'utf-8',
): AsyncGenerator<Buffer> {
  const { head, bytes } = await peek(source, 3);
  const utf16 =
    head[0] === 0xff && head[1] === 0xfe ? 'le' : head[0] === 0xfe && head[1] === 0xff ? 'be' : undefined;
  let markBytes = utf16 ? 2 : head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const transcode = utf16 ? createTranscoder(utf16) : markBytes === 0 ? createDeclared(encoding) : undefined;

  for await (const chunk of bytes) {
    const rest = chunk.subarray(markBytes);
    markBytes = 0;
    yield transcode ? transcode(rest) : rest;
  }
  const last = transcode?.(undefined);
  if (last && last.length > 0) yield last;
}

function createDeclared(encoding: Encoding): ((chunk: Buffer | undefined) => Buffer) | undefined {
  switch (encoding) {
    case 'utf-8':
      return undefined;
    case 'utf-16le':
      return createTranscoder('le');
    case 'utf-16be':
      return createTranscoder('be');
    default: {
      const codes = encoding === 'latin1' ? LATIN1 : WINDOWS_1252;
      return (chunk = NOTHING) => transcodeBytes(chunk, codes);
    }
  }
}

const NOTHING = Buffer.alloc(0);

/** What each byte means, in UTF-8; one that means nothing stays a byte that is not UTF-8, so that its record is rejected. */
const createCodes = (toText: (byte: number) => string | undefined): readonly Buffer[] =>
  Array.from({ length: 256 }, (_, byte) => {
    const text = toText(byte);
    return text === undefined ? Buffer.from([0xff]) : Buffer.from(text, 'utf8');
  });

const LATIN1 = createCodes((byte) => String.fromCharCode(byte));

/** 0x80 to 0x9f: https://www.unicode.org/Public/MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT */
const C1_OF_1252 = '€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ';
const WINDOWS_1252 = createCodes((byte) => {
  if (byte < 0x80 || byte > 0x9f) return String.fromCharCode(byte);
  const text = C1_OF_1252.charAt(byte - 0x80);
  return text === '\0' ? undefined : text;
});

function transcodeBytes(chunk: Buffer, codes: readonly Buffer[]): Buffer {
  let more = 0;
  for (let at = 0; at < chunk.length; at += 1) {
    const byte = chunk[at] as number;
    if (byte >= 0x80) more += (codes[byte] as Buffer).length - 1;
  }
  const out = Buffer.allocUnsafe(chunk.length + more);
  let to = 0;
  for (let at = 0; at < chunk.length; at += 1) {
    const byte = chunk[at] as number;
    if (byte < 0x80) {
      out[to] = byte;
      to += 1;
    } else {
      const code = codes[byte] as Buffer;
      for (let one = 0; one < code.length; one += 1) out[to + one] = code[one] as number;
      to += code.length;
    }
  }
  return out;
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

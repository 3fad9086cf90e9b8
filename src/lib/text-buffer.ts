import { giveBuffer, takeBuffer } from './spare-buffers.ts';

/** Bytes that are written one after another into one buffer, which grows as they come. */
export class TextBuffer {
  bytes: Buffer;
  /** Where the next byte goes. */
  end = 0;

  constructor(bytes: number) {
    this.bytes = takeBuffer(bytes);
  }

  /** Begins again. Memory of more than `mostKept` bytes, which a large text needed, is left to others. */
  clear(mostKept: number): void {
    this.end = 0;
    if (this.bytes.length <= mostKept) return;
    giveBuffer(this.bytes);
    this.bytes = takeBuffer(FIRST_BYTES);
  }

  /** Makes room for so many bytes more. */
  reserve(more: number): void {
    const needed = this.end + more;
    if (needed <= this.bytes.length) return;
    const larger = takeBuffer(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.end);
    giveBuffer(this.bytes);
    this.bytes = larger;
  }

  write(text: string): void {
    const { length } = text;
    this.reserve(length * MAX_BYTES_PER_UNIT);
    if (length > MOST_SHORT || !this.#writeAscii(text)) this.end += this.bytes.write(text, this.end, 'utf8');
  }

  /** As a JSON string: what `JSON.stringify` makes of it. */
  writeString(text: string): void {
    const { length } = text;
    this.reserve(length * MAX_BYTES_PER_UNIT + 2);
    const { bytes, end } = this;
    let to = end;
    bytes[to++] = QUOTE;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < 0x20 || code > 0x7e) {
        this.write(JSON.stringify(text)); // over what was tried
        return;
      }
      if (code === QUOTE || code === BACKSLASH) bytes[to++] = BACKSLASH;
      bytes[to++] = code;
    }
    bytes[to] = QUOTE;
    this.end = to + 1;
  }

  copy(from: Uint8Array, start = 0, stop = from.length): void {
    this.reserve(stop - start);
    const { bytes, end } = this;
    const shift = end - start;
    if (stop - start > MOST_SHORT_COPY) bytes.set(from.subarray(start, stop), end);
    else for (let at = start; at < stop; at += 1) bytes[at + shift] = from[at] as number;
    this.end = end + stop - start;
  }

  #writeAscii(text: string): boolean {
    const { bytes, end } = this;
    const { length } = text;
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 0x7f) return false;
      bytes[end + at] = code;
    }
    this.end = end + length;
    return true;
  }
}

const FIRST_BYTES = 4096;

/** Characters of a text for which the call of a native function costs more than a loop. */
const MOST_SHORT = 64;
/** The same of bytes. */
const MOST_SHORT_COPY = 128;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A UTF-16 code unit never takes more than three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

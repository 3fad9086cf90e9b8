import { giveBuffer, takeBuffer } from './spare-buffers.ts';

/** Bytes that are written one after another into one buffer, which grows as they come. */
export class TextBuffer {
  bytes: Buffer;
  /** Where the next byte goes. */
  end = 0;

  constructor(bytes: number) {
    this.bytes = takeBuffer(bytes);
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
    this.reserve(text.length * MAX_BYTES_PER_UNIT);
    this.end += this.bytes.write(text, this.end, 'utf8');
  }
}

/** A UTF-16 code unit never takes more than three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

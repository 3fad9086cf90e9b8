import { PART_MAX_BYTES, type PartRecord } from '../contract/part.ts';
import { giveBuffer, takeBuffer } from '../lib/spare-buffers.ts';

/**
 * A part before compression: frames, each a line of ASCII followed by the original bytes.
 *
 *     H <length>                                header row of a CSV; only as the first frame
 *     S <length>                                file that the following records are from; in parts of several
 *     F <length>                                member of the file that the following records are from
 *     R <line> <length>                         a record
 *     T <line> <size> <sha256> <headLength>     first bytes of a record that is too large to keep
 */
export class FrameWriter {
  private buffer: Buffer;
  private used = 0;
  private file: string | undefined;
  private member: string | undefined;
  records = 0;

  constructor(header: Uint8Array | undefined) {
    this.buffer = takeBuffer(FIRST_BYTES);
    if (header) this.writeName('H', header);
  }

  get bytes(): number {
    return this.used;
  }

  /** How many bytes the part would have with this record in it. `file`: in parts of several. */
  bytesWith(record: PartRecord, file?: string): number {
    const isNewFile = file !== this.file;
    const switching =
      (isNewFile ? countNameFrame(file) : 0) +
      (record.member === (isNewFile ? undefined : this.member) ? 0 : countNameFrame(record.member));
    return this.used + switching + countRecordFrame(record);
  }

  /** The records that follow are of this file. Members start again. */
  startFile(file: string): void {
    this.writeName('S', Buffer.from(file));
    this.file = file;
    this.member = undefined;
  }

  add(record: PartRecord): void {
    if (record.member !== this.member) {
      this.writeName('F', Buffer.from(record.member ?? ''));
      this.member = record.member;
    }
    if (record.kind === 'record') this.write(`R ${record.line} ${record.bytes.length}\n`, record.bytes);
    else this.write(`T ${record.line} ${record.size} ${record.sha256} ${record.head.length}\n`, record.head);
    this.records += 1;
  }

  /** The frames so far. The writer must not be used afterwards. */
  take(): Buffer {
    return this.buffer.subarray(0, this.used);
  }

  private writeName(kind: 'H' | 'S' | 'F', name: Uint8Array): void {
    this.write(`${kind} ${name.length}\n`, name);
  }

  /** `line` with its line feed; ASCII. */
  private write(line: string, body: Uint8Array): void {
    const start = this.used + line.length;
    const end = start + body.length;
    if (end >= this.buffer.length) this.grow(end + 1);
    const { buffer } = this;
    buffer.write(line, this.used, 'latin1');
    buffer.set(body, start);
    buffer[end] = LF;
    this.used = end + 1;
  }

  private grow(needed: number): void {
    const larger = takeBuffer(Math.max(needed, PART_MAX_BYTES));
    this.buffer.copy(larger, 0, 0, this.used);
    giveBuffer(this.buffer);
    this.buffer = larger;
  }
}

/** A small source needs no more; whatever is larger gets a whole block at once, and is copied once. */
const FIRST_BYTES = 256 * 1024;

const LF = 0x0a;

function countNameFrame(name = ''): number {
  const bytes = Buffer.byteLength(name);
  return 4 + countDigits(bytes) + bytes;
}

function countRecordFrame(record: PartRecord): number {
  if (record.kind === 'record')
    return 5 + countDigits(record.line) + countDigits(record.bytes.length) + record.bytes.length;
  const { line, size, sha256, head } = record;
  return 7 + countDigits(line) + countDigits(size) + sha256.length + countDigits(head.length) + head.length;
}

function countDigits(value: number): number {
  let digits = 1;
  for (let power = 10; value >= power; power *= 10) digits += 1;
  return digits;
}

import { PART_MAX_BYTES, type PartRecord } from '../contract/part.ts';

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
    this.buffer = Buffer.allocUnsafe(256 * 1024);
    if (header) this.write(`H ${header.length}`, header);
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
    return this.used + switching + countFrameBytes(renderLine(record), getBody(record).length);
  }

  /** The records that follow are of this file. Members start again. */
  startFile(file: string): void {
    const name = Buffer.from(file);
    this.write(`S ${name.length}`, name);
    this.file = file;
    this.member = undefined;
  }

  add(record: PartRecord): void {
    if (record.member !== this.member) {
      const name = Buffer.from(record.member ?? '');
      this.write(`F ${name.length}`, name);
      this.member = record.member;
    }
    this.write(renderLine(record), getBody(record));
    this.records += 1;
  }

  /** The frames so far. The writer must not be used afterwards. */
  take(): Buffer {
    return this.buffer.subarray(0, this.used);
  }

  private write(line: string, body: Uint8Array): void {
    const needed = this.used + countFrameBytes(line, body.length);
    if (needed > this.buffer.length) {
      const doubled = Math.min(this.buffer.length * 2, PART_MAX_BYTES);
      const larger = Buffer.allocUnsafe(Math.max(needed, doubled));
      this.buffer.copy(larger, 0, 0, this.used);
      this.buffer = larger;
    }
    this.used += this.buffer.write(line, this.used, 'latin1');
    this.buffer[this.used] = LF;
    this.buffer.set(body, this.used + 1);
    this.used = needed;
    this.buffer[this.used - 1] = LF;
  }
}

const LF = 0x0a;

const countNameFrame = (name = ''): number =>
  countFrameBytes(`F ${Buffer.byteLength(name)}`, Buffer.byteLength(name));

const countFrameBytes = (line: string, bodyBytes: number) => line.length + bodyBytes + 2;

const getBody = (record: PartRecord): Uint8Array => (record.kind === 'record' ? record.bytes : record.head);

const renderLine = (record: PartRecord): string =>
  record.kind === 'record'
    ? `R ${record.line} ${record.bytes.length}`
    : `T ${record.line} ${record.size} ${record.sha256} ${record.head.length}`;

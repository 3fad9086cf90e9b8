import { PART_MAX_BYTES, type PartRecord } from '../contract/part.ts';
import { SourceError } from '../lib/errors.ts';

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

export interface DecodedFrames {
  readonly header: Uint8Array | undefined;
  /** Decoded lazily; views into the buffer. Throws SourceError where the frames are damaged. */
  readonly records: Iterable<PartRecord>;
}

export function decodeFrames(frames: Buffer): DecodedFrames {
  const first = frames.length > 0 && frames[0] === LETTER_H ? readFrame(frames, 0) : undefined;
  const start = first?.next ?? 0;
  return {
    header: first?.body,
    records: { [Symbol.iterator]: () => decodeRecords(frames, start) },
  };
}

function* decodeRecords(frames: Buffer, start: number): Generator<PartRecord> {
  let file: string | undefined;
  let member: string | undefined;
  for (let at = start; at < frames.length; ) {
    const { kind, fields, body, next } = readFrame(frames, at);
    if (kind === 'R') yield { kind: 'record', file, member, line: Number(fields[0]), bytes: body };
    else if (kind === 'T') {
      const [line, size, sha256 = ''] = fields;
      yield { kind: 'oversize', file, member, line: Number(line), size: Number(size), sha256, head: body };
    } else if (kind === 'F') member = body.length === 0 ? undefined : body.toString('utf8');
    else if (kind === 'S') {
      file = body.toString('utf8');
      member = undefined;
    } else throw createError(at, 'a header row after the first frame');
    at = next;
  }
}

const LETTER_H = 0x48;
const FRAME = /^(?:([HFS])|(R) (\d+)|(T) (\d+) (\d+) ([0-9a-f]{64})) (\d+)$/;
const MAX_LINE_BYTES = 128;

interface Frame {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly body: Buffer;
  readonly next: number;
}

function readFrame(frames: Buffer, at: number): Frame {
  const lineEnd = frames.indexOf(LF, at);
  if (lineEnd === -1 || lineEnd - at > MAX_LINE_BYTES) throw createError(at, 'no frame starts here');
  const line = frames.toString('latin1', at, lineEnd);
  const match = FRAME.exec(line);
  if (!match) throw createError(at, 'no frame starts here');
  const [, name, isRecord, recordLine, , oversizeLine, size, sha256, length] = match;
  const bodyEnd = lineEnd + 1 + Number(length);
  if (frames[bodyEnd] !== LF) throw createError(at, 'its length is wrong');
  const body = frames.subarray(lineEnd + 1, bodyEnd);
  const next = bodyEnd + 1;
  if (name) return { kind: name, fields: [], body, next };
  if (isRecord) return { kind: 'R', fields: [recordLine ?? ''], body, next };
  return { kind: 'T', fields: [oversizeLine ?? '', size ?? '', sha256 ?? ''], body, next };
}

const createError = (at: number, why: string) =>
  new SourceError(
    `the part is damaged at byte ${at} of its frames (${why}); restore it, or stage its file again`,
  );

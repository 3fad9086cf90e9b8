import type { PartRecord } from '../contract/part.ts';
import { SourceError } from '../lib/errors.ts';
import { giveBuffer } from '../lib/spare-buffers.ts';

/**
 * The records of a part: one buffer with its frames (frames.ts), and where in it each record begins and ends. An
 * object for each record would cost more than finding it; `get` makes one for those that are looked at by themselves.
 */
export class PartRecords {
  /** The frames of the part. */
  readonly bytes: Buffer;
  /** Number of records. */
  readonly count: number;
  /** The header row of a CSV. */
  readonly header: Uint8Array | undefined;
  readonly #places: Places;
  #memory: Buffer | undefined;

  /** @param memory What `bytes` are in, where `release` is to give it back. */
  constructor(bytes: Buffer, header: Uint8Array | undefined, places: Places, memory?: Buffer) {
    this.bytes = bytes;
    this.header = header;
    this.count = places.starts.length;
    this.#places = places;
    this.#memory = memory;
  }

  /** Gives the memory back, for the next part: nobody may look at a record any more. */
  release(): void {
    if (this.#memory) giveBuffer(this.#memory);
    this.#memory = undefined;
  }

  /** Where in `bytes` a record, or what was kept of it, begins. */
  getStart(record: number): number {
    return this.#places.starts[record] ?? 0;
  }

  getEnd(record: number): number {
    return this.#places.ends[record] ?? 0;
  }

  /** Size of a record of which only the head was kept. */
  getOversize(record: number): number | undefined {
    const { oversize } = this.#places;
    return oversize.size === 0 ? undefined : oversize.get(record)?.size;
  }

  /** Name of the file that a record is from, in a part of several files. */
  getFile(record: number): string | undefined {
    return this.#getOrigin(record)?.file;
  }

  /** A view of one record. */
  get(record: number): PartRecord {
    if (record < 0 || record >= this.count) throw new Error(`the part has no record ${record}`);
    const { lines, oversize } = this.#places;
    const body = this.bytes.subarray(this.getStart(record), this.getEnd(record));
    const origin = this.#getOrigin(record);
    const at = { file: origin?.file, member: origin?.member, line: lines[record] ?? 0 };
    const larger = oversize.get(record);
    return larger
      ? { kind: 'oversize', ...at, ...larger, head: body }
      : { kind: 'record', ...at, bytes: body };
  }

  *[Symbol.iterator](): Generator<PartRecord> {
    for (let record = 0; record < this.count; record += 1) yield this.get(record);
  }

  #getOrigin(record: number): Origin | undefined {
    const { origins } = this.#places;
    let low = 0;
    for (let high = origins.length; high > low; ) {
      const middle = (low + high) >>> 1;
      if ((origins[middle]?.from ?? 0) <= record) low = middle + 1;
      else high = middle;
    }
    return origins[low - 1];
  }
}

interface Places {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly lines: readonly number[];
  readonly oversize: ReadonlyMap<number, { readonly size: number; readonly sha256: string }>;
  /** Where file or member change. */
  readonly origins: readonly Origin[];
}

interface Origin {
  /** The first record of it. */
  readonly from: number;
  readonly file: string | undefined;
  readonly member: string | undefined;
}

/** Finds the records of a part. Throws SourceError where the frames are damaged. */
export function decodeFrames(frames: Buffer, memory?: Buffer): PartRecords {
  const starts: number[] = [];
  const ends: number[] = [];
  const lines: number[] = [];
  const oversize = new Map<number, { size: number; sha256: string }>();
  const origins: Origin[] = [];
  const cursor = new Cursor(frames);
  let header: Uint8Array | undefined;
  let file: string | undefined;
  let member: string | undefined;

  while (cursor.next < frames.length) {
    const at = cursor.next;
    const kind = cursor.read();
    if (kind === 'R' || kind === 'T') {
      if (kind === 'T') oversize.set(starts.length, { size: cursor.size, sha256: cursor.sha256 });
      starts.push(cursor.start);
      ends.push(cursor.end);
      lines.push(cursor.line);
    } else if (kind === 'H') {
      if (at > 0) throw createError(at, 'a header row after the first frame');
      header = cursor.body;
    } else {
      if (kind === 'S') file = cursor.body.toString('utf8');
      member = kind === 'S' || cursor.body.length === 0 ? undefined : cursor.body.toString('utf8');
      origins.push({ from: starts.length, file, member });
    }
  }
  return new PartRecords(frames, header, { starts, ends, lines, oversize, origins }, memory);
}

const LF = 0x0a;
const BLANK = 0x20;
const LETTER_R = 0x52;
const FRAME = /^(?:([HFS])|(T) (\d+) (\d+) ([0-9a-f]{64})) (\d+)$/;
const MAX_LINE_BYTES = 128;

/** Reads frame after frame; what it says of the last one is overwritten by the next. */
class Cursor {
  next = 0;
  /** Of the body. */
  start = 0;
  end = 0;
  /** Of a record. */
  line = 0;
  /** Of a record that is too large. */
  size = 0;
  sha256 = '';
  readonly #frames: Buffer;

  constructor(frames: Buffer) {
    this.#frames = frames;
  }

  get body(): Buffer {
    return this.#frames.subarray(this.start, this.end);
  }

  read(): string {
    const at = this.next;
    const kind = this.#readRecordLine(at) ? 'R' : this.#readOtherLine(at);
    if (this.#frames[this.end] !== LF) throw createError(at, 'its length is wrong');
    this.next = this.end + 1;
    return kind;
  }

  /** `R <line> <length>`: nearly all lines, so they are read as bytes. */
  #readRecordLine(at: number): boolean {
    const frames = this.#frames;
    if (frames[at] !== LETTER_R || frames[at + 1] !== BLANK) return false;
    let to = at + 2;
    let line = 0;
    for (; isDigit(frames[to]); to += 1) line = line * 10 + ((frames[to] as number) - ZERO);
    if (to === at + 2 || frames[to] !== BLANK) return false;
    const lengthAt = to + 1;
    let length = 0;
    for (to = lengthAt; isDigit(frames[to]); to += 1) length = length * 10 + ((frames[to] as number) - ZERO);
    if (to === lengthAt || frames[to] !== LF || to - at > MAX_LINE_BYTES) return false;
    this.line = line;
    this.start = to + 1;
    this.end = this.start + length;
    return true;
  }

  #readOtherLine(at: number): string {
    const lineEnd = this.#frames.indexOf(LF, at);
    if (lineEnd === -1 || lineEnd - at > MAX_LINE_BYTES) throw createError(at, 'no frame starts here');
    const match = FRAME.exec(this.#frames.toString('latin1', at, lineEnd));
    if (!match) throw createError(at, 'no frame starts here');
    const [, name, , line, size, sha256 = '', length] = match;
    this.line = Number(line ?? 0);
    this.size = Number(size ?? 0);
    this.sha256 = sha256;
    this.start = lineEnd + 1;
    this.end = this.start + Number(length);
    return name ?? 'T';
  }
}

const ZERO = 0x30;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= 0x39;

const createError = (at: number, why: string) =>
  new SourceError(
    `the part is damaged at byte ${at} of its frames (${why}); restore it, or stage its file again`,
  );

import { isAscii } from 'node:buffer';
import { crc32, gzipSync } from 'node:zlib';
import type { FactsIndex, FactsSection } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { gunzip, gzip } from '../../lib/gzip.ts';
import { recoveryHint } from '../recovery-hint.ts';
import { BucketLines, readOrder } from './bucket-lines.ts';

/** Identity facts that write themselves. */
export interface WritableFacts {
  /** Nothing may be asked of them afterwards. */
  writeLines(lines: BucketLines): void;
}

export function saveFacts(staging: Staging, key: string, facts: WritableFacts): Promise<FactsIndex> {
  const lines = new BucketLines();
  facts.writeLines(lines);
  return saveLines(staging, key, lines);
}

/**
 * A section for each bucket, so that neighbouring buckets can be read at once: plain text, or a gzip member. The lines
 * are of no use afterwards.
 */
export async function saveLines(staging: Staging, key: string, lines: BucketLines): Promise<FactsIndex> {
  const { whole, buckets } = lines.texts();
  const isPacked = isWorthPacking(staging, whole.length);
  const sections: FactsSection[] = [];
  const bodies: Buffer[] = [];
  let offset = 0;
  for (const { bucket, body } of buckets) {
    const section = isPacked ? await pack(body) : body;
    const checksum = isPacked ? {} : { crc32: crc32(section) };
    sections.push({ bucket, offset, length: section.length, ...checksum });
    if (isPacked) bodies.push(section);
    offset += section.length;
  }
  await staging.put(key, isPacked ? Buffer.concat(bodies) : whole);
  lines.release();
  return { key, sections, ...(isPacked ? {} : { plain: true as const }) };
}

/** Packing costs more than all else about the facts of a part; where they are few, or space is free, it is left. */
const isWorthPacking = (staging: Staging, bytes: number): boolean =>
  staging.freeBytes === undefined && bytes >= PACKED_FROM_BYTES;
const PACKED_FROM_BYTES = 256 * 1024;
/** Handing less to the thread pool costs more than packing it. */
const PACKED_HERE_BYTES = 16 * 1024;

const pack = async (body: Buffer): Promise<Buffer> =>
  body.length < PACKED_HERE_BYTES ? gzipSync(body, { level: 1 }) : gzip(body, { level: 1 });

const PACKED_RATIO = 6;

/** How long the lines of some sections are, in bytes, estimated. */
export const estimateTextBytes = ({ plain }: Pick<FactsIndex, 'plain'>, bytes: number): number =>
  plain ? bytes : bytes * PACKED_RATIO;

/** The bytes of an object that hold one bucket, or several neighbouring ones. */
export interface FactsRange {
  readonly key: string;
  readonly offset: number;
  readonly length: number;
  /** Those that the range consists of, to compare their checksums; a bit of an id would merge other persons. */
  readonly sections?: readonly FactsSection[];
}

/** The lines of some buckets; `parse` throws for a line that Backhaul did not write. */
export async function readLines(staging: Staging, range: FactsRange): Promise<Lines> {
  const { key, offset, length, sections = [] } = range;
  const where = `${key} (bytes ${offset} to ${offset + length})`;
  const body = await staging.getRange(key, offset, length).catch((error: unknown) => {
    if (!(error instanceof SourceError)) throw error;
    throw new SourceError(`${error.message}; ${recoveryHint(key)}`, error);
  });
  try {
    for (const section of sections) verifySection(body, offset, section);
    return new Lines(isPacked(body) ? await gunzip(body) : body, where, staging.location);
  } catch (error) {
    throw toDamage(where, key, staging.location, error);
  }
}

/** Whether an object has its size, and its checksums hold. */
export async function areFactsWhole(staging: Staging, { key, sections }: FactsIndex): Promise<boolean> {
  const last = sections.at(-1);
  if (!last) return true;
  const body = await staging.get(key);
  if (body?.length !== last.offset + last.length) return false;
  try {
    if (isPacked(body)) await gunzip(body);
    // Nothing says so of text without them.
    else if (sections.some((section) => section.crc32 === undefined)) return false;
    for (const section of sections) verifySection(body, 0, section);
    return true;
  } catch {
    return false;
  }
}

function verifySection(body: Buffer, start: number, { offset, length, crc32: expected }: FactsSection): void {
  const from = offset - start;
  if (expected !== undefined && crc32(body.subarray(from, from + length)) !== expected)
    throw new Error('its checksum is another');
}

/** A line begins with a digit or a brace, so that no text is taken for a gzip member. */
const isPacked = (body: Buffer): boolean => body[0] === 0x1f && body[1] === 0x8b;

/** Lines that are made text one by one: all of them at once would block the event loop. */
export class Lines {
  readonly #body: Buffer;
  readonly #where: string;
  readonly #location: string;
  /** The same text of bytes below 128, made without looking for characters of several bytes. */
  #encoding: 'latin1' | 'utf8' | undefined;

  constructor(body: Buffer, where: string, location: string) {
    this.#body = body;
    this.#where = where;
    this.#location = location;
  }

  get length(): number {
    return this.#body.length;
  }

  /** Where each line is, and the order that it begins with; -1: it begins with none, see parseEarlier. */
  eachPlace(visit: (order: number, start: number, stop: number) => void): void {
    const body = this.#body;
    for (let start = 0; start < body.length; ) {
      const end = body.indexOf(LF, start);
      const stop = end === -1 ? body.length : end;
      if (stop > start) visit(body[start] === BRACE ? -1 : readOrder(body, start), start, stop);
      start = stop + 1;
    }
  }

  parseAt<T>(parseLine: (line: string) => T, start: number, stop: number): T {
    this.#encoding ??= isAscii(this.#body) ? 'latin1' : 'utf8';
    return this.#parseOne(parseLine, this.#body.toString(this.#encoding, start, stop));
  }

  /** `isWanted`: of lines that begin with an order, by that; see writeFact. */
  *parse<T>(parseLine: (line: string) => T, isWanted?: (order: number) => boolean): Generator<T> {
    const body = this.#body;
    for (let start = 0; start < body.length; ) {
      const end = body.indexOf(LF, start);
      const stop = end === -1 ? body.length : end;
      if (stop > start && (!isWanted || body[start] === BRACE || isWanted(readOrder(body, start))))
        yield this.parseAt(parseLine, start, stop);
      start = stop + 1;
    }
  }

  #parseOne<T>(parseLine: (line: string) => T, line: string): T {
    try {
      return parseLine(line);
    } catch (error) {
      throw toDamage(this.#where, this.#where, this.#location, error);
    }
  }
}

const LF = 0x0a;
/** Of a line that an earlier version wrote. */
const BRACE = 0x7b;

const toDamage = (where: string, key: string, location: string, cause: unknown) =>
  new SourceError(`${location}: ${where} is not what Backhaul wrote there; ${recoveryHint(key)}`, cause);

import { type PartRecord, RECORD_MAX_BYTES } from '../../contract/part.ts';
import { SourceError } from '../../lib/errors.ts';
import { createRowParser, findRows, uniqueNames } from './csv-row.ts';
import { RecordCarry } from './record-carry.ts';
import { RowEndFinder } from './row-end.ts';
import type { ReadOptions } from './sniff-format.ts';
import type { Splitter } from './splitter.ts';

const [LF, CR] = [0x0a, 0x0d];
/** Scanned at once after a fault: a file full of stray quotes must not take quadratic time. */
const WARY_BYTES = 4 * 1024;
const FULL_BYTES = 1024 * 1024;
const HEADER_MAX_BYTES = 1024 * 1024;
const BARE_RETURNS =
  'and all behind it are one line: the line ends are bare carriage returns; save it with Unix or Windows line ends';

/**
 * A quoted cell is larger than a record may be, and nothing closes it: the quote is a stray one, and the rows behind
 * its line were read over. They are found by reading again with `strayQuotes`, which names the line.
 */
export class StrayQuoteError extends SourceError {
  readonly line: number;

  constructor(where: string, line: number) {
    super(
      `${where}, line ${line}: a quote opens a cell that is larger than ${RECORD_MAX_BYTES} bytes and is never closed; ` +
        'close it, or double it where it is meant as text',
    );
    this.line = line;
  }
}

/** The header lacks columns that the manifest declares: the manifest and the file do not fit each other. */
export class MissingColumnsError extends SourceError {}

/**
 * One record a row; quoted cells may hold line ends. PapaParse finds the rows, in text that is read as
 * Latin-1: a character is then a byte, so its cursor is a byte position and no UTF-8 character can be
 * torn. A stray quote would make every parser swallow rows to the next quote or the end of the file;
 * here a row with faulty quotes ends at its first line end, one reject, and reading continues behind it.
 * A row that is too long to be held is one reject as well, to its end, however many lines it has.
 */
export class CsvSplitter implements Splitter {
  header: Uint8Array | undefined;
  private readonly where: string;
  private readonly member: string | undefined;
  private readonly delimiter: string;
  private readonly checkColumns: ReadOptions['checkColumns'];
  private readonly strayQuotes: ReadonlySet<number>;
  /** A row that is too long, being skipped to its end. */
  private readonly carry: RecordCarry;
  /** Where that row ends; undefined where its quotes are faulty, so that it ends with its line. */
  private rowEnd: RowEndFinder | undefined;
  private carriedLineEnds = 0;
  private rest: Buffer = Buffer.alloc(0);
  private windowBytes = FULL_BYTES;
  private line = 1;

  constructor(
    delimiter: string,
    member: string | undefined,
    where: string,
    checkColumns?: ReadOptions['checkColumns'],
    strayQuotes: ReadonlySet<number> = new Set(),
  ) {
    this.delimiter = delimiter;
    this.checkColumns = checkColumns;
    this.member = member;
    this.where = where;
    this.strayQuotes = strayQuotes;
    this.carry = new RecordCarry(member);
  }

  push(chunk: Buffer, out: PartRecord[]): void {
    let bytes = chunk;
    if (this.carry.bytes > 0) {
      const end = this.findCarriedEnd(chunk);
      if (end === -1) {
        this.carryOn(chunk);
        return;
      }
      this.finishCarried(chunk.subarray(0, end), out);
      bytes = chunk.subarray(end + 1);
    }
    const all = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    this.rest = all.subarray(this.split(all, false, out));
    // No line end in all of it: no row, and no use in holding it.
    if (this.rest.length > RECORD_MAX_BYTES) {
      this.startCarrying(this.rest);
      this.rest = Buffer.alloc(0);
    }
  }

  end(out: PartRecord[]): void {
    if (this.carry.bytes > 0) {
      if (this.rowEnd?.mayEnd === false && this.carriedLineEnds > 0) throw this.strayQuote();
      this.finishCarried(Buffer.alloc(0), out);
    }
    const { rest } = this;
    if (rest.length === 0) return;
    this.split(rest[rest.length - 1] === LF ? rest : Buffer.concat([rest, Buffer.from('\n')]), true, out);
  }

  /** False where the row's quotes are faulty, or known to be: it ends with its line then. */
  private startCarrying(row: Buffer): boolean {
    const rowEnd = new RowEndFinder(Buffer.from(this.delimiter, 'utf8'));
    const isSound = !this.strayQuotes.has(this.line) && rowEnd.find(row) === -1;
    this.rowEnd = isSound ? rowEnd : undefined;
    if (isSound || !row.includes(LF)) this.carryOn(row);
    return isSound;
  }

  private carryOn(piece: Buffer): void {
    this.carry.add(piece);
    this.carriedLineEnds += countLineEnds(piece);
  }

  private findCarriedEnd(chunk: Buffer): number {
    const end = this.rowEnd?.find(chunk) ?? 'fault';
    if (end !== 'fault') return end;
    if (this.carriedLineEnds > 0) throw this.strayQuote();
    this.rowEnd = undefined;
    return chunk.indexOf(LF);
  }

  private strayQuote(): StrayQuoteError {
    return new StrayQuoteError(this.where, this.line);
  }

  /** Emits rows and returns how many bytes they took; what is left needs more text to be judged. */
  private split(all: Buffer, isEnd: boolean, out: PartRecord[]): number {
    let at = 0;
    while (at < all.length) {
      // A window ends behind a line end: there, a quote that closes nothing is a fault and not a cut.
      const lastLineEnd = all.lastIndexOf(LF, Math.min(all.length, at + this.windowBytes) - 1);
      const end = lastLineEnd >= at ? lastLineEnd + 1 : all.indexOf(LF, at) + 1;
      if (end === 0) return at;

      const { taken, isFaulty } = this.takeRows(all, at, end, out);
      at += taken;
      const sawAll = at + this.windowBytes >= all.length;
      const isTooLong = sawAll && (isEnd || all.length - at > RECORD_MAX_BYTES);
      const isLong = taken === 0 && isTooLong;
      if (isLong && !isFaulty && !isEnd && this.header && this.startCarrying(all.subarray(at))) {
        return all.length;
      }
      if (isFaulty || isLong) {
        const lineEnd = all.indexOf(LF, at);
        this.emit(all.subarray(at, lineEnd), out);
        at = lineEnd + 1;
        this.windowBytes = WARY_BYTES;
      } else if (taken > 0) {
        this.windowBytes = Math.min(FULL_BYTES, this.windowBytes * 2);
      } else if (!sawAll) {
        this.windowBytes *= 4;
      } else {
        return at;
      }
    }
    return at;
  }

  private takeRows(
    all: Buffer,
    start: number,
    end: number,
    out: PartRecord[],
  ): { taken: number; isFaulty: boolean } {
    let taken = 0;
    let isFaulty = false;
    const text = all.toString('latin1', start, end);
    const { restIsFaulty } = findRows(text, this.delimiterBytes, (rowEnd, rowIsFaulty) => {
      const row = all.subarray(start + taken, start + rowEnd - 1);
      if (rowIsFaulty && row.includes(LF)) {
        isFaulty = true;
        return 'stop';
      }
      this.emit(row, out);
      taken = rowEnd;
      return 'go_on';
    });
    return { taken, isFaulty: isFaulty || restIsFaulty };
  }

  private get delimiterBytes(): string {
    return Buffer.from(this.delimiter, 'utf8').toString('latin1');
  }

  private finishCarried(last: Buffer, out: PartRecord[]): void {
    const record = this.carry.take(last, this.line);
    this.line += 1 + this.carriedLineEnds + countLineEnds(last);
    this.carriedLineEnds = 0;
    if (!this.header) {
      const head = record?.kind === 'oversize' ? record.head : record?.bytes;
      throw this.badHeader(
        head && hasBareReturn(head) ? BARE_RETURNS : `is longer than ${HEADER_MAX_BYTES} bytes`,
      );
    }
    if (record) out.push(record);
  }

  /** One row without its line end. */
  private emit(row: Buffer, out: PartRecord[]): void {
    const { line } = this;
    this.line += 1 + countLineEnds(row);
    const bytes = row[row.length - 1] === CR ? row.subarray(0, -1) : row;
    if (bytes.length === 0 || isBlank(bytes)) return;
    if (!this.header) this.header = this.checkHeader(bytes);
    else if (bytes.length <= RECORD_MAX_BYTES) out.push({ kind: 'record', member: this.member, line, bytes });
    else out.push(...[this.carry.take(bytes, line)].filter((record) => record !== undefined));
  }

  private checkHeader(bytes: Buffer): Uint8Array {
    // First of all: without line ends, the quotes and the length of the whole file would be judged.
    if (hasBareReturn(bytes)) throw this.badHeader(BARE_RETURNS);
    if (bytes.length > HEADER_MAX_BYTES) throw this.badHeader(`is longer than ${HEADER_MAX_BYTES} bytes`);
    const cells = createRowParser(this.delimiter)(bytes.toString('utf8'));
    if (!cells) {
      throw this.badHeader(
        `has a quote that is never closed, or text behind a closing quote, as where the delimiter is not ${JSON.stringify(this.delimiter)}`,
      );
    }
    const lacking = this.checkColumns?.(uniqueNames(cells));
    if (lacking !== undefined) throw new MissingColumnsError(this.describeHeader(lacking));
    return Buffer.from(bytes);
  }

  private badHeader(how: string): SourceError {
    return new SourceError(this.describeHeader(how));
  }

  private describeHeader(how: string): string {
    return `${this.where}: the header row ${how}`;
  }
}

function countLineEnds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count += 1;
  return count;
}

/** A carriage return that ends a line by itself, as on old Macs; one at the end of the bytes may be half an end. */
function hasBareReturn(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(CR); at !== -1 && at < bytes.length - 1; at = bytes.indexOf(CR, at + 1)) {
    if (bytes[at + 1] !== LF) return true;
  }
  return false;
}

/** Tabs are cells. */
const isBlank = (bytes: Buffer): boolean => bytes[0] === 0x20 && bytes.every((byte) => byte === 0x20);

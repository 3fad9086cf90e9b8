import type { PartRecord } from '../../contract/part.ts';
import { SourceError } from '../../lib/errors.ts';
import { RecordCarry } from './record-carry.ts';
import type { Splitter } from './splitter.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const LF = 0x0a;

type State = 'between' | 'container' | 'string' | 'scalar';

/**
 * One record an element of a JSON array, or a document of several set one after the other over more
 * than one line each. Scans for the ends of values and parses nothing: this keeps
 * each element's original text (numbers, order and spelling of keys, what makes it unreadable), and
 * is several times as fast as a streaming parser. Inside an element nothing is judged: its parser does that, and a
 * malformed one is one reject. What breaks the array itself is a SourceError.
 */
export class ValueSplitter implements Splitter {
  readonly header = undefined;
  private readonly where: string;
  private readonly carry: RecordCarry;
  private readonly isArray: boolean;
  private state: State = 'between';
  private arrayOpen = false;
  private depth = 0;
  private inString = false;
  private escaped = false;
  private line = 1;
  private startLine = 1;

  constructor(form: 'array' | 'documents', member: string | undefined, where: string) {
    this.isArray = form === 'array';
    this.carry = new RecordCarry(member);
    this.where = where;
  }

  push(chunk: Buffer, out: PartRecord[]): void {
    let start = 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.state === 'between') {
        at = this.skipBetween(chunk, at);
        start = at;
        continue;
      }
      const end = this.findEnd(chunk, at);
      if (end === -1) break;
      this.emit(chunk.subarray(start, end), out);
      at = end;
    }
    if (this.state !== 'between') this.carry.add(chunk.subarray(start));
  }

  end(out: PartRecord[]): void {
    if (this.state === 'scalar' && !this.isArray) this.emit(Buffer.alloc(0), out);
    if (this.state !== 'between') {
      throw this.broken(`ends inside the element that starts in line ${this.startLine}`);
    }
    if (this.arrayOpen) throw this.broken(`ends in line ${this.line} before its closing "]"`);
  }

  /** Walks to where the next value starts, and enters it. */
  private skipBetween(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === LF) this.line += 1;
      if (byte === LF || byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === COMMA) continue;
      if (this.isArray && !this.arrayOpen) {
        // Exports that append write one array after the other.
        if (byte !== OPEN_ARRAY) throw this.broken(`has something other than an array in line ${this.line}`);
        this.arrayOpen = true;
        continue;
      }
      if (this.isArray && byte === CLOSE_ARRAY) {
        this.arrayOpen = false;
        continue;
      }
      this.startLine = this.line;
      this.depth = 0;
      this.inString = false;
      this.escaped = false;
      this.state =
        byte === OPEN_OBJECT || byte === OPEN_ARRAY ? 'container' : byte === QUOTE ? 'string' : 'scalar';
      return at;
    }
    return chunk.length;
  }

  /** The byte behind the value that is being read, or -1 when it continues in the next chunk. */
  private findEnd(chunk: Buffer, from: number): number {
    if (this.state === 'scalar') return this.findScalarEnd(chunk, from);
    let { depth, inString, escaped, line } = this;
    let end = -1;
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === LF) line += 1;
      if (inString) {
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
        else continue;
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
      else continue;
      if (depth === 0 && !inString) {
        end = at + 1;
        break;
      }
    }
    this.depth = depth;
    this.inString = inString;
    this.escaped = escaped;
    this.line = line;
    return end;
  }

  private findScalarEnd(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (byte === LF || byte === COMMA || (this.isArray && byte === CLOSE_ARRAY)) return at;
    }
    return -1;
  }

  private emit(bytes: Buffer, out: PartRecord[]): void {
    const record = this.carry.take(bytes, this.startLine);
    if (record) out.push(record);
    this.state = 'between';
  }

  private broken(how: string): SourceError {
    const what = this.isArray ? 'JSON array' : 'sequence of JSON documents';
    return new SourceError(
      `${this.where}: the ${what} ${how}; the file is cut off or damaged: fetch it again, or repair it`,
    );
  }
}

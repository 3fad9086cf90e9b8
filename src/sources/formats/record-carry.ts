import { createHash, type Hash } from 'node:crypto';
import { type PartRecord, RECORD_MAX_BYTES } from '../../contract/part.ts';

/** How much of a record beyond RECORD_MAX_BYTES is kept. */
const HEAD_BYTES = 64 * 1024;

const CR = 0x0d;

/** Holds the record that a chunk broke off, in flat memory however long it grows. */
export class RecordCarry {
  private readonly member: string | undefined;
  private pieces: Buffer[] = [];
  private size = 0;
  private oversize: { readonly head: Buffer; readonly hash: Hash } | undefined;

  constructor(member: string | undefined) {
    this.member = member;
  }

  get bytes(): number {
    return this.size;
  }

  /** Copies it: the memory of a chunk may be given back. */
  add(piece: Buffer): void {
    this.size += piece.length;
    if (this.oversize) {
      this.oversize.hash.update(piece);
      return;
    }
    this.pieces.push(Buffer.from(piece));
    if (this.size <= RECORD_MAX_BYTES) return;
    const whole = Buffer.concat(this.pieces);
    this.oversize = {
      head: Buffer.from(whole.subarray(0, HEAD_BYTES)),
      hash: createHash('sha256').update(whole),
    };
    this.pieces = [];
  }

  /** The carried bytes with `last` behind them as one record, or undefined when that is a blank line. */
  take(last: Buffer, line: number): PartRecord | undefined {
    if (this.size === 0 && last.length <= RECORD_MAX_BYTES) return this.record(last, line);
    this.add(last);
    const { oversize, size, pieces } = this;
    this.oversize = undefined;
    this.size = 0;
    this.pieces = [];
    if (!oversize) return this.record(Buffer.concat(pieces), line);
    const sha256 = oversize.hash.digest('hex');
    return { kind: 'oversize', member: this.member, line, head: oversize.head, size, sha256 };
  }

  private record(bytes: Buffer, line: number): PartRecord | undefined {
    const text = bytes[bytes.length - 1] === CR ? bytes.subarray(0, -1) : bytes;
    return isBlank(text) ? undefined : { kind: 'record', member: this.member, line, bytes: text };
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== CR) return false;
  }
  return true;
}

import type { PartRecord } from '../../contract/part.ts';
import { RecordCarry } from './record-carry.ts';
import type { Splitter } from './splitter.ts';

/** One record a line. Blank lines are none, but count as lines. */
export class LineSplitter implements Splitter {
  readonly header = undefined;
  private readonly carry: RecordCarry;
  private line = 1;

  constructor(member: string | undefined) {
    this.carry = new RecordCarry(member);
  }

  push(chunk: Buffer, out: PartRecord[]): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.emit(chunk.subarray(start, end), out);
      start = end + 1;
    }
    if (start < chunk.length) this.carry.add(chunk.subarray(start));
  }

  end(out: PartRecord[]): void {
    if (this.carry.bytes > 0) this.emit(Buffer.alloc(0), out);
  }

  private emit(bytes: Buffer, out: PartRecord[]): void {
    const record =
      bytes.length === 0 && this.carry.bytes === 0 ? undefined : this.carry.take(bytes, this.line);
    if (record) out.push(record);
    this.line += 1;
  }
}

const [TAB, LF, CR, BLANK, QUOTE] = [0x09, 0x0a, 0x0d, 0x20, 0x22];

/** `closing` is behind a quote in a quoted cell: the end of the cell, or the first half of a doubled quote. */
type State = 'cell_start' | 'bare' | 'quoted' | 'closing' | 'closed';

/**
 * Finds the end of a CSV row that is too long to be held, in one pass over its pieces, from the row's first byte
 * on. Behind the quote that ends a cell come blanks, a delimiter or a line end; anything else is a fault: the
 * quote that opened the cell was a stray one, and what looked like the cell is rows.
 */
export class RowEndFinder {
  private readonly delimiter: Uint8Array;
  private state: State = 'cell_start';
  /** How many bytes of the delimiter were just seen. */
  private matched = 0;

  constructor(delimiter: Uint8Array) {
    this.delimiter = delimiter;
  }

  /** Where in `bytes` the line end is that ends the row; -1 where the row continues behind them. */
  find(bytes: Buffer): number | 'fault' {
    for (let at = 0; at < bytes.length; at += 1) {
      if (this.state === 'quoted') {
        at = bytes.indexOf(QUOTE, at);
        if (at === -1) return -1;
        this.state = 'closing';
      } else if (bytes[at] === LF) {
        return this.mayEnd ? at : 'fault';
      } else if (!this.step(bytes[at] ?? LF)) {
        return 'fault';
      }
    }
    return -1;
  }

  /** Whether the text may end here. */
  get mayEnd(): boolean {
    if (this.state === 'quoted') return false;
    return this.matched === 0 || this.state === 'bare' || this.state === 'cell_start';
  }

  private step(byte: number): boolean {
    const { state } = this;
    if (this.matchDelimiter(byte)) this.state = 'cell_start';
    else if (state === 'cell_start' && byte === QUOTE) this.state = 'quoted';
    else if (state === 'cell_start' || state === 'bare') this.state = 'bare';
    else if (state === 'closing' && byte === QUOTE) this.state = 'quoted';
    else if (byte === BLANK || byte === TAB || byte === CR) this.state = 'closed';
    else return this.matched > 0;
    return true;
  }

  private matchDelimiter(byte: number): boolean {
    const { delimiter } = this;
    if (byte === delimiter[this.matched]) this.matched += 1;
    else this.matched = byte === delimiter[0] ? 1 : 0;
    if (this.matched < delimiter.length) return false;
    this.matched = 0;
    return true;
  }
}

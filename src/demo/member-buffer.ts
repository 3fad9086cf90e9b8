/** Text of one member of the export, as bytes from the start: one emoji would double a long string. */
export class MemberBuffer {
  #bytes: Buffer;
  #length = 0;

  /** Grows beyond `expectedBytes` where it must. */
  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(expectedBytes);
  }

  add(text: string): void {
    const most = text.length * 3;
    if (this.#length + most > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + most));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

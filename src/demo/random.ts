const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Pseudo-random numbers (sfc32): the same seed yields the same sequence on every machine. */
export class Random {
  #a = 0x9e3779b9;
  #b = 0x243f6a88;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#c = seed >>> 0;
    for (let round = 0; round < 12; round += 1) this.bits();
  }

  /** 32 bits as an unsigned integer. */
  bits(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** 0 to `end` - 1. */
  below(end: number): number {
    return Math.floor((this.bits() / 2 ** 32) * end);
  }

  chance(probability: number): boolean {
    return this.bits() < probability * 2 ** 32;
  }

  pick<const A extends readonly [unknown, ...unknown[]]>(from: A): A[number] {
    return from[this.below(from.length)] ?? from[0];
  }

  hex(bytes: number): string {
    let text = '';
    for (let at = 0; at < bytes; at += 4) {
      const bits = this.bits();
      for (let shift = 0; shift < Math.min(4, bytes - at); shift += 1)
        text += HEX[(bits >>> (8 * shift)) & 255];
    }
    return text;
  }

  /** In the form of version 4. */
  uuid(): string {
    const hex = this.hex(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

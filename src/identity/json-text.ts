import { LosslessNumber, parse } from 'lossless-json';
import { canonicalJson } from '../lib/json/canonical-json.ts';

/** A value in its canonical JSON text. Folding compares and moves such texts without parsing them. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const textOf = (value: unknown): string =>
  value instanceof JsonText ? value.text : canonicalJson(value);

/** The value again, with every digit it had (I9). */
export function parseText(text: string): unknown {
  return MAY_LOSE_DIGITS.test(text) ? parse(text, undefined, exactNumber) : JSON.parse(text);
}

/** Sixteen digits, with or without a point among them, or an exponent beyond a double's. */
const MAY_LOSE_DIGITS = /[\d.]{16}|\d[eE][+-]?\d{3}/;

const exactNumber = (text: string) =>
  String(Number(text)) === text ? Number(text) : new LosslessNumber(text);

import { canonicalJson } from '../lib/json/canonical-json.ts';

/** A value as its canonical JSON text. Folding compares and moves such texts without parsing them. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export const toCanonicalText = (value: unknown): string =>
  value instanceof JsonText ? value.text : canonicalJson(value);

/** A column whose texts are numbers, as `mapping.types` takes it. */
export interface NumberGuess {
  readonly column: string;
  readonly decimal: '.' | ',';
  /** What stands between groups of three digits; undefined: nothing does. */
  readonly group: '.' | ',' | undefined;
}

interface Column {
  readonly name: string;
  readonly plain: string;
  readonly values: readonly unknown[];
}

/** Digits that count nothing. */
const NAMES_OF_CODES =
  /(?:^|_)(?:id|ids|nr|no|num|number|nummer|code|zip|plz|postcode|phone|version|year|hash)$/;

const PLAIN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const WITH_COMMA = /^-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?$/;
const WITH_GROUPS = /^-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/;

/** Cells of a table are text, which no insight adds up. Undefined where a text may be read in two ways. */
export function guessNumber({ name, plain, values }: Column): NumberGuess | undefined {
  if (values.length === 0 || NAMES_OF_CODES.test(plain)) return undefined;
  const texts = values.filter((value) => typeof value === 'string').map((text) => text.trim());
  if (texts.length < values.length) return undefined;
  const all = (pattern: RegExp) => texts.every((text) => pattern.test(text));
  const some = (part: string) => texts.some((text) => text.includes(part));
  if (all(PLAIN)) return { column: name, decimal: '.', group: undefined };
  const isComma = all(WITH_COMMA);
  if (isComma === all(WITH_GROUPS)) return undefined;
  return isComma
    ? { column: name, decimal: ',', group: some('.') ? '.' : undefined }
    : { column: name, decimal: '.', group: ',' };
}

/**
 * Numbers as PostgreSQL's `numeric` has them: any number of digits. Their text is that of JSON, with at most
 * three digits of exponent.
 */
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Up to here a double holds every digit. */
const MAX_SHORT = 15;

/** Below 0, 0 or above 0: by value, not by spelling. */
export function compareNumbers(a: string, b: string): number {
  if (a.length <= MAX_SHORT && b.length <= MAX_SHORT) return Number(a) - Number(b);
  const [left, right] = [toDecimal(a), toDecimal(b)];
  const exponent = left.exponent < right.exponent ? left.exponent : right.exponent;
  const difference = scale(left, exponent) - scale(right, exponent);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** The value is `digits` times ten to the exponent. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function toDecimal(text: string): Decimal {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
}

const scale = ({ digits, exponent }: Decimal, to: number): bigint => digits * 10n ** BigInt(exponent - to);

/** As PostgreSQL writes it: `1e3` is 1000, `1e-3` is 0.001. */
export function writeNumber(text: string): string {
  const [, sign = '', whole = '0', fraction = '', exponentText] = NUMBER.exec(text) ?? [];
  if (exponentText === undefined) return text === '-0' ? '0' : text;
  const exponent = Number(exponentText);
  const digits = `${whole}${fraction}`;
  const pointAt = whole.length + exponent;
  if (pointAt >= digits.length) return trim(sign, digits.padEnd(pointAt, '0'), '');
  if (pointAt <= 0) return trim(sign, '0', digits.padStart(digits.length - pointAt, '0'));
  return trim(sign, digits.slice(0, pointAt), digits.slice(pointAt));
}

function trim(sign: string, whole: string, fraction: string): string {
  const short = whole.replace(/^0+(?=\d)/, '');
  return fraction === '' ? `${sign}${short}` : `${sign}${short}.${fraction}`;
}

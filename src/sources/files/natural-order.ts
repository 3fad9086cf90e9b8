/**
 * Order of names in which `_2#10` follows `_2#9`: runs of digits compare as numbers, all else by code
 * unit. Amplitude's members carry un-padded hours. No locale, so that every machine agrees.
 */
export function compareNaturally(a: string, b: string): number {
  const left = a.match(PIECES) ?? [];
  const right = b.match(PIECES) ?? [];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const order = comparePieces(left[index] ?? '', right[index] ?? '');
    if (order !== 0) return order;
  }
  if (left.length !== right.length) return left.length - right.length;
  // `01` and `1` are the same number but two names, and need an order.
  return a < b ? -1 : a > b ? 1 : 0;
}

const PIECES = /\d+|\D+/g;
const DIGITS = /^\d/;

function comparePieces(a: string, b: string): number {
  if (DIGITS.test(a) && DIGITS.test(b)) {
    const left = a.replace(/^0+/, '');
    const right = b.replace(/^0+/, '');
    if (left.length !== right.length) return left.length - right.length;
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Order of names in which `_2#10` follows `_2#9`: runs of digits compare as numbers, all else by code
 * unit. Amplitude's members carry un-padded hours. No locale, so that every machine agrees.
 */
export const compareNaturally = (a: string, b: string): number => compareKeys(toKey(a), toKey(b));

/** Items in the natural order of their names. Each name is taken apart once: there may be tens of thousands. */
export function sortNaturally<T extends { readonly name: string }>(items: Iterable<T>): T[] {
  const keyed = Array.from(items, (item) => ({ item, key: toKey(item.name) }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ item }) => item);
}

interface NameKey {
  readonly name: string;
  readonly pieces: readonly string[];
}

const toKey = (name: string): NameKey => ({ name, pieces: name.match(PIECES) ?? [] });

function compareKeys({ name: a, pieces: left }: NameKey, { name: b, pieces: right }: NameKey): number {
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

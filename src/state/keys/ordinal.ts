/**
 * Every key of staging is built and parsed in this folder; ARCHITECTURE.md ("Contents of staging") has the tree.
 * Keys are part of what is stored: a changed key loses what an earlier version wrote under the old one.
 */

/** A key made of anything else would never be found again, or be found as another. */
export function toOrdinal(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`${number} cannot be part of a key`);
  return String(number).padStart(8, '0');
}

/** The number that a group of a pattern holds; undefined where the key is none that Backhaul built. */
export function parseOrdinal(pattern: RegExp, key: string): number | undefined {
  const digits = pattern
    .exec(key)
    ?.slice(1)
    .find((group) => group !== undefined);
  const number = Number(digits);
  return digits !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

export const JSON_END = '.json';

/**
 * Tells descriptions, receipts and other documents from bodies, and from what operating systems leave in folders
 * (`.DS_Store`, `._00000.json`).
 */
export const isDocument = (key: string): boolean =>
  key.endsWith(JSON_END) && !key.startsWith('.', key.lastIndexOf('/') + 1);

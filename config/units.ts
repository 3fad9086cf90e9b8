const UNIT_BYTES = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KIB: 2 ** 10, MIB: 2 ** 20, GIB: 2 ** 30 } as const;

/** `5MiB`, `512 KiB`, `1MB`, `1048576`. */
export const BYTE_SIZE = /^(\d{1,15}(?:\.\d{1,6})?) ?([KMG]i?B|B)?$/i;
/** `1%`, `0.5%`. */
export const PERCENTAGE = /^(100|\d{1,2}(?:\.\d{1,6})?)%$/;

/** Whole bytes, or undefined where the text is not a size. */
export function parseByteSize(text: string): number | undefined {
  const [, number, unit] = BYTE_SIZE.exec(text) ?? [];
  if (number === undefined) return undefined;
  return Math.round(Number(number) * UNIT_BYTES[(unit ?? 'B').toUpperCase() as keyof typeof UNIT_BYTES]);
}

/** 0 to 100, or undefined where the text is not a percentage. */
export function parsePercentage(text: string): number | undefined {
  const number = PERCENTAGE.exec(text)?.[1];
  return number === undefined ? undefined : Number(number);
}

import type { StoredProperty } from '../state/facts.ts';

/** A property and the event field it goes into: `$set`, `$set_once` or `$group_set`. */
export interface FieldProperty {
  readonly field: string;
  readonly key: string;
  /** Canonical JSON text of the value. */
  readonly text: string;
}

export const fieldProperties = (field: string, properties: readonly StoredProperty[]): FieldProperty[] =>
  properties.map(([key, , text]) => ({ field, key, text }));

/** A constant, for the cut decides the uuids (I2); fits the smallest batch a manifest may ask for. */
export const PACK_BYTES = 56 * 1024;

/**
 * Cuts the properties of one person or group into few events, in order. A property larger than a pack
 * goes alone; one that fits into no event of `maxBytes` is given back apart.
 */
export function packProperties(
  properties: readonly FieldProperty[],
  maxBytes: number,
): { packs: FieldProperty[][]; tooLarge: FieldProperty[] } {
  const packs: FieldProperty[][] = [];
  const tooLarge: FieldProperty[] = [];
  let room = 0;
  for (const property of properties) {
    const bytes = Buffer.byteLength(JSON.stringify(property.key)) + Buffer.byteLength(property.text) + 2;
    if (bytes > maxBytes) {
      tooLarge.push(property);
      continue;
    }
    if (bytes > room) {
      packs.push([]);
      room = Math.min(PACK_BYTES, maxBytes);
    }
    packs.at(-1)?.push(property);
    room -= bytes;
  }
  return { packs, tooLarge };
}

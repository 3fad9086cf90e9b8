import type { StoredProperty } from './stored-finding.ts';

/** A property and the event field it goes into: `$set`, `$set_once` or `$group_set`. */
export interface FieldProperty {
  readonly field: string;
  readonly key: string;
  /** Canonical JSON text of the value. */
  readonly text: string;
}

export const fieldProperties = (field: string, properties: readonly StoredProperty[]): FieldProperty[] =>
  properties.map(([key, , text]) => ({ field, key, text }));

/**
 * Cuts the properties of one person or group into as few events as the size allows, in order. A
 * property that fits into no event is given back apart.
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
      room = maxBytes;
    }
    packs.at(-1)?.push(property);
    room -= bytes;
  }
  return { packs, tooLarge };
}

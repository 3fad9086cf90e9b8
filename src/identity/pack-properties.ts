import type { StoredProperty } from '../state/facts/snapshots.ts';
import { toTimeMs } from './property-decision.ts';
import type { PropertyField } from './property-filter.ts';

/** A property and the event field it goes into: `$set`, `$set_once` or `$group_set`. */
export interface FieldProperty {
  readonly field: string;
  /** Under which the ledger has it. */
  readonly entry: PropertyField;
  readonly key: string;
  /** Canonical JSON text of the value. */
  readonly text: string;
  /**
   * Source time, ms since 1970, of a value that replaces and that is not the first one: it may be a former value
   * again, and must not look like a repeat of its first event.
   */
  readonly laterMs: number | undefined;
}

export const toFieldProperties = (
  field: string,
  entry: PropertyField,
  properties: readonly StoredProperty[],
  later?: ReadonlySet<string>,
): FieldProperty[] =>
  properties.map(({ key, time, text }) => ({
    field,
    entry,
    key,
    text,
    laterMs: later?.has(key) ? toTimeMs(time) : undefined,
  }));

/** Constant, because where properties are cut decides the uuids (I2). Fits the smallest batch of a manifest. */
const PACK_BYTES = 56 * 1024;

/** The properties that a destination stores of one person or group, as JSON; it drops an event that brings more. */
const PROFILE_BYTES = 512 * 1024;

/**
 * Cuts the properties of one person or group into few events, in order. A property larger than a pack
 * gets a pack of its own; one that fits into no event of `maxBytes`, or beside the others into no profile, is
 * returned in `tooLarge`.
 */
export function packProperties(
  properties: readonly FieldProperty[],
  maxBytes: number,
): { packs: (readonly FieldProperty[])[]; tooLarge: FieldProperty[] } {
  if (properties.length > 0 && countAtMost(properties) <= Math.min(PACK_BYTES, maxBytes))
    return { packs: [properties], tooLarge: [] };
  const packs: FieldProperty[][] = [];
  const tooLarge: FieldProperty[] = [];
  let room = 0;
  let total = 0;
  for (const property of properties) {
    const bytes = Buffer.byteLength(JSON.stringify(property.key)) + Buffer.byteLength(property.text) + 2;
    if (bytes > maxBytes || total + bytes > PROFILE_BYTES) {
      tooLarge.push(property);
      continue;
    }
    total += bytes;
    if (bytes > room) {
      packs.push([]);
      room = Math.min(PACK_BYTES, maxBytes);
    }
    packs.at(-1)?.push(property);
    room -= bytes;
  }
  return { packs, tooLarge };
}

/** No fewer bytes than they have: an escape has six, a UTF-16 unit at most three. */
function countAtMost(properties: readonly FieldProperty[]): number {
  let bytes = 0;
  for (const { key, text } of properties) bytes += 6 * key.length + 3 * text.length + 4;
  return bytes;
}

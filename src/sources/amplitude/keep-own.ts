import { isDeepStrictEqual } from 'node:util';
import { JsonToken } from '../../lib/json/json-token.ts';
import { markNames, type PropertyList, type PropertyName, pinName } from '../../lib/json/property-list.ts';
import { keepAside } from '../mapping/keep-aside.ts';
import { RESERVED } from '../mapping/properties.ts';
import { type FieldsOrText, hasField, hasValue, readNamed } from '../mapping/table.ts';
import { hasMeaning } from '../mapping/web/meaning.ts';
import { ANY_PLATFORM, NOT_WEB, WEB } from './tables.ts';

/** What an event calls its own, and what its record says under the same names. */
export interface KeepOwn {
  /** Notes what is there: own properties alone. */
  readonly hold: (properties: PropertyList, own: FieldsOrText | undefined) => void;
  /** Keeps as `source_<name>` what was replaced since. */
  readonly keep: (properties: PropertyList) => void;
}

/** Names that something beside `event_properties` is sent by. */
const DERIVED: readonly string[] = [
  ...new Set([ANY_PLATFORM, WEB, NOT_WEB].flatMap(Object.keys)),
  ...['$device_type', '$event_type', '$ip', '$geoip_disable', '$lib', '$lib_version', '$session_id'],
  ...['amplitude_library', 'amplitude_session_id', 'amplitude_user_properties', 'amplitude_other_groups'],
];
const DERIVED_NAMES = DERIVED.map(pinName);
/** Few events have any of them. */
const MAY_BE_REPLACED = markNames(DERIVED);

const RENAMED = RESERVED.map((name) => ({ from: pinName(name), to: pinName(`source_${name}`) }));
const MAY_BE_RENAMED = markNames(RENAMED.map(({ to }) => to.text));

const IP = pinName('$ip');

/** One for a map: it holds what is of the record that is being mapped. */
export function createKeepOwn(dropIp: boolean): KeepOwn {
  const names: PropertyName[] = [];
  const values: unknown[] = [];
  /** Text that is held keeps the bytes of its part. */
  const clear = () => {
    names.length = 0;
    values.length = 0;
  };

  return {
    hold(properties, own) {
      if (names.length > 0) clear();
      if (own && properties.mayHave(MAY_BE_RENAMED)) keepRenamed(properties, own);
      if (!properties.mayHave(MAY_BE_REPLACED)) return;
      for (const name of DERIVED_NAMES) {
        const value = properties.getText(name);
        if (!(value instanceof JsonToken ? value.hasValue : hasValue(value))) continue;
        // An address that is dropped is dropped under any name.
        if (dropIp && name === IP) continue;
        names.push(name);
        values.push(value);
      }
    },

    keep(properties) {
      if (names.length === 0) return;
      for (let at = 0; at < names.length; at += 1) {
        const name = names[at] as PropertyName;
        const held = values[at];
        const before = held instanceof JsonToken ? held.read() : held;
        const after = properties.get(name);
        const isGone = after === undefined && !hasMeaning(before);
        if (!isGone && !isDeepStrictEqual(before, after)) keepAside(properties, name.text, held);
      }
      clear();
    },
  };
}

/** A name that is reserved is sent as one that the event may have, too. */
function keepRenamed(properties: PropertyList, own: FieldsOrText): void {
  for (const { from, to } of RENAMED) {
    if (!hasField(own, from) || !hasField(own, to)) continue;
    const renamed = readNamed(own, from);
    const given = readNamed(own, to);
    properties.set(to, given);
    if (hasValue(renamed) && !isDeepStrictEqual(renamed, given)) keepAside(properties, to.text, renamed);
  }
}

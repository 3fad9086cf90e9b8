import { DeferredValues, WHOLE_MARK } from '../../contract/identity-fact.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { JsonToken, NULL } from '../../lib/json/json-token.ts';
import type { PropertyName } from '../../lib/json/property-list.ts';
import { findEndOfPlain } from '../../lib/json/value-end.ts';
import type { TextBuffer } from '../../lib/text-buffer.ts';
import { toOwnName } from '../mapping/properties.ts';
import { asFields, type Fields } from '../mapping/table.ts';

/** What of user properties differs between versions of the mapping. */
export interface UserPropertyRules {
  /** Name under which an `initial_*` property is set once; undefined: it is a property like any other. */
  readonly toSetOnceName: (name: string) => string | undefined;
  /** Whether an `initial_*` property of this value, which may be still text, is none. */
  readonly isNone: (value: unknown) => boolean;
  /** Whether what is set is all there is at the time of the record. */
  readonly isWhole: boolean;
}

interface UserProperties {
  readonly set?: Fields | DeferredValues | undefined;
  readonly setOnce?: Fields | DeferredValues | undefined;
}

/** What some user properties are called, which of them are given, and what follows from it. */
interface Shape {
  readonly names: readonly PropertyName[];
  readonly marks: readonly Mark[];
  readonly set: Part;
  readonly setOnce: Part;
  readonly rules: UserPropertyRules;
}

interface Part {
  readonly keys: ReadonlySet<string>;
  /** In the order of canonical JSON. */
  readonly members: readonly Member[];
}

interface Member {
  /** A comma, and the name as JSON with the colon. */
  readonly label: Uint8Array;
  /** The place of its value in the record; what is no number is the value itself. */
  readonly of: unknown;
}

/** A property that is null, one that says nothing, any other. */
type Mark = 0 | 1 | 2;

/** Values that are still text are parsed when somebody looks at them. */
export function createReadUserProperties(rules: UserPropertyRules): (value: unknown) => UserProperties {
  /** Neighbouring records have the same. */
  let lastShape: Shape | undefined;

  const toMark = (token: JsonToken | undefined): Mark => {
    if (!token || token.kind === NULL) return 0;
    return rules.isNone(token) ? 1 : 2;
  };

  const findShape = ({ members: { count, names, values } }: JsonToken): Shape => {
    const last = lastShape;
    if (last?.names.length === count) {
      let at = 0;
      while (at < count && last.names[at] === names[at] && last.marks[at] === toMark(values[at])) at += 1;
      if (at === count) return last;
    }
    const marks = values.slice(0, count).map(toMark);
    // An object whose values are their places shows which of them count, and under which names.
    const places = marks.map((mark, at) => [names[at]?.text, mark === 0 ? null : at]);
    const isNone = (place: unknown) => marks[place as number] === 1;
    const { set = {}, setOnce = {} } = split(Object.fromEntries(places), { ...rules, isNone });
    lastShape = { names: names.slice(0, count), marks, set: toPart(set), setOnce: toPart(setOnce), rules };
    return lastShape;
  };

  return (value) => {
    if (!(value instanceof JsonToken)) {
      const traits = asFields(value);
      return traits ? split(traits, rules) : {};
    }
    if (!value.isPlain) return split(value.read() as Fields, rules);
    const shape = findShape(value);
    const { set, setOnce } = shape;
    lastRecord = (lastRecord + 1) | 0;
    return {
      set: set.keys.size > 0 ? new PlainValues(value, shape, 'set', lastRecord) : undefined,
      setOnce: setOnce.keys.size > 0 ? new PlainValues(value, shape, 'setOnce', lastRecord) : undefined,
    };
  };
}

/** Of values that are places: see findShape. */
function toPart(places: Fields): Part {
  const keys = Object.keys(places);
  const toMember = (key: string) => ({
    label: Buffer.from(`,${JSON.stringify(key)}:`),
    of: places[key],
  });
  return { keys: new Set(keys), members: [...keys].sort().map(toMember) };
}

/**
 * What user properties set, or set once, by their place in the bytes of the part: nothing of them is copied. There are
 * two for every record, and those of a person are kept until the last record of the part, so they hold little.
 */
class PlainValues extends DeferredValues {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #shape: Shape;
  readonly #part: 'set' | 'setOnce';
  /** A number that both of one record have, and no other one. */
  readonly #record: number;

  constructor({ text, start }: JsonToken, shape: Shape, part: 'set' | 'setOnce', record: number) {
    super();
    this.#bytes = text.bytes;
    this.#start = start;
    this.#shape = shape;
    this.#part = part;
    this.#record = record;
  }

  override get keys(): ReadonlySet<string> {
    return this.#shape[this.#part].keys;
  }

  override get values(): Fields {
    if (splitOf !== this.#record) {
      const end = findEndOfPlain(this.#bytes, this.#start);
      const text = this.#bytes.toString('latin1', this.#start, end);
      lastSplit = split(JSON.parse(text) as Fields, this.#shape.rules);
      splitOf = this.#record;
    }
    return lastSplit[this.#part] ?? {};
  }

  /** Copied from the record: what JSON.stringify would write is what stands there. */
  override write(out: TextBuffer): void {
    const bytes = this.#bytes;
    const { names, [this.#part]: own } = this.#shape;
    if (cutOf !== this.#record) cutValues(bytes, this.#start, names);
    cutOf = this.#record;
    const start = out.end;
    for (const { label, of } of own.members) {
      out.copy(label, 0, label.length);
      if (typeof of === 'number') writeValue(bytes, of, out);
      else out.write(canonicalJson(of));
    }
    out.bytes[start] = OPEN_BRACE; // in place of a comma
    out.write('}');
  }
}

/** The record that was read last. */
let lastRecord = 0;

/** Whose values were parsed last, and whose were cut: mostly both parts of a record follow one on the other. */
let splitOf = 0;
let lastSplit: ReturnType<typeof split> = {};
let cutOf = 0;
const starts: number[] = [];
const ends: number[] = [];

/** A plain object with these names is at `start`. */
function cutValues(bytes: Uint8Array, start: number, names: readonly PropertyName[]): void {
  let at = start + 1;
  for (let place = 0; place < names.length; place += 1) {
    at += (names[place] as PropertyName).bytes.length - 1; // of the name, which has a comma in front
    starts[place] = at;
    at = findEndOfPlain(bytes, at);
    ends[place] = at;
    at += 1;
  }
}

/** Objects and what may hold them are made again: the order of their keys is that of the record. */
function writeValue(bytes: Buffer, place: number, out: TextBuffer): void {
  const start = starts[place] as number;
  const end = ends[place] as number;
  if (bytes[start] !== OPEN_BRACE && bytes[start] !== OPEN_BRACKET) out.copy(bytes, start, end);
  else out.write(canonicalJson(JSON.parse(bytes.toString('latin1', start, end))));
}
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** What is set once goes under the destination's `$initial_*`. */
function split(
  traits: Fields,
  { toSetOnceName, isNone, isWhole }: UserPropertyRules,
): { readonly set?: Fields; readonly setOnce?: Fields } {
  const set: Record<string, unknown> = {};
  let setOnce: Record<string, unknown> | undefined;
  let hasSet = false;
  for (const key of Object.keys(traits)) {
    const value = traits[key];
    if (value === null || value === undefined) continue;
    const isInitial = key.startsWith('initial_');
    if (isInitial && isNone(value)) continue;
    const onceName = isInitial ? toSetOnceName(key) : undefined;
    if (onceName === undefined) {
      set[toOwnName(key)] = value;
      hasSet = true;
    } else {
      setOnce ??= {};
      setOnce[onceName] = value;
    }
  }
  if (hasSet && isWhole) set[WHOLE_MARK] = true;
  return hasSet ? (setOnce ? { set, setOnce } : { set }) : setOnce ? { setOnce } : {};
}

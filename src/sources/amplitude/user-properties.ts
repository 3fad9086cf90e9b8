import { type DeferredTraits, DeferredValues, WHOLE_MARK } from '../../contract/identity-fact.ts';
import { canonicalJson } from '../../lib/json/canonical-json.ts';
import { JsonToken, NULL } from '../../lib/json/json-token.ts';
import type { PropertyName } from '../../lib/json/property-list.ts';
import { findEndOfBytes } from '../../lib/json/value-end.ts';
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
    lastShape = { names: names.slice(0, count), marks, set: toPart(set), setOnce: toPart(setOnce) };
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
    const traits = new PlainTraits(value, shape, rules);
    return {
      set: set.keys.size > 0 ? new DeferredValues(set.keys, traits, 'set') : undefined,
      setOnce: setOnce.keys.size > 0 ? new DeferredValues(setOnce.keys, traits, 'setOnce') : undefined,
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

/** The user properties of a record, by their place in the bytes of the part: nothing of them is copied. */
class PlainTraits implements DeferredTraits {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;
  readonly #shape: Shape;
  readonly #rules: UserPropertyRules;
  #split: ReturnType<typeof split> | undefined;

  constructor({ text, start, end }: JsonToken, shape: Shape, rules: UserPropertyRules) {
    this.#bytes = text.bytes;
    this.#start = start;
    this.#end = end;
    this.#shape = shape;
    this.#rules = rules;
  }

  get set(): Fields {
    return this.#read().set ?? {};
  }

  get setOnce(): Fields {
    return this.#read().setOnce ?? {};
  }

  /** Copied from the record: what JSON.stringify would write is what stands there. */
  write(part: 'set' | 'setOnce', out: TextBuffer): void {
    const bytes = this.#bytes;
    const { names, setOnce, [part]: own } = this.#shape;
    if (lastCut !== this) cutValues(bytes, this.#start, names);
    const start = out.end;
    for (const { label, of } of own.members) {
      out.copy(label, 0, label.length);
      if (typeof of === 'number') writeValue(bytes, of, out);
      else out.write(canonicalJson(of));
    }
    out.bytes[start] = OPEN_BRACE; // in place of a comma
    out.write('}');
    // What is kept of it would keep the part.
    lastCut = part === 'set' && setOnce.keys.size > 0 ? this : undefined;
  }

  #read(): ReturnType<typeof split> {
    this.#split ??= split(JSON.parse(this.#toText()) as Fields, this.#rules);
    return this.#split;
  }

  #toText(): string {
    return this.#bytes.toString('latin1', this.#start, this.#end);
  }
}

/** Whose values were cut last: mostly both parts of it are written one after the other. */
let lastCut: PlainTraits | undefined;
const starts: number[] = [];
const ends: number[] = [];

/** A plain object with these names is at `start`. */
function cutValues(bytes: Uint8Array, start: number, names: readonly PropertyName[]): void {
  let at = start + 1;
  for (let place = 0; place < names.length; place += 1) {
    at += (names[place] as PropertyName).bytes.length - 1; // of the name, which has a comma in front
    starts[place] = at;
    at = findEndOfBytes(bytes, at);
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

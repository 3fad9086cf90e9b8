import { type DeferredTraits, DeferredValues, WHOLE_MARK } from '../../contract/identity-fact.ts';
import { JsonToken, NULL } from '../../lib/json/json-token.ts';
import type { PropertyName } from '../../lib/json/property-list.ts';
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
  readonly set: ReadonlySet<string>;
  readonly setOnce: ReadonlySet<string>;
}

/** A property that is null, one that says nothing, any other. */
type Mark = 0 | 1 | 2;

/** A value of each kind. */
const MARKED = [null, 'EMPTY', true] as const;

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
    // An object with a value of each kind shows which of them count.
    const { set = {}, setOnce = {} } = split(
      Object.fromEntries(marks.map((mark, at) => [names[at]?.text, MARKED[mark]])),
      rules,
    );
    lastShape = {
      names: names.slice(0, count),
      marks,
      set: new Set(Object.keys(set)),
      setOnce: new Set(Object.keys(setOnce)),
    };
    return lastShape;
  };

  return (value) => {
    if (!(value instanceof JsonToken)) {
      const traits = asFields(value);
      return traits ? split(traits, rules) : {};
    }
    if (!value.isPlain) return split(value.read() as Fields, rules);
    const { set, setOnce } = findShape(value);
    const traits = new PlainTraits(value, rules);
    return {
      set: set.size > 0 ? new DeferredValues(set, traits, 'set') : undefined,
      setOnce: setOnce.size > 0 ? new DeferredValues(setOnce, traits, 'setOnce') : undefined,
    };
  };
}

/** The user properties of a record, by their place in the bytes of the part: nothing of them is copied. */
class PlainTraits implements DeferredTraits {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;
  readonly #rules: UserPropertyRules;
  #split: ReturnType<typeof split> | undefined;

  constructor({ text, start, end }: JsonToken, rules: UserPropertyRules) {
    this.#bytes = text.bytes;
    this.#start = start;
    this.#end = end;
    this.#rules = rules;
  }

  get set(): Fields {
    return this.#read().set ?? {};
  }

  get setOnce(): Fields {
    return this.#read().setOnce ?? {};
  }

  #read(): ReturnType<typeof split> {
    this.#split ??= split(
      JSON.parse(this.#bytes.toString('latin1', this.#start, this.#end)) as Fields,
      this.#rules,
    );
    return this.#split;
  }
}

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

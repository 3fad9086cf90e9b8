/**
 * What one record states about persons and groups, beside its event. Facts are folded by source time,
 * never by arrival (invariant I2). `time` is ISO 8601 UTC with milliseconds, so that text order is time
 * order.
 */
export type IdentityFact = PairFact | PersonFact | GroupFact;

/** `anonId` and `userId` were seen on the same record: the same person. */
export interface PairFact {
  readonly kind: 'pair';
  readonly anonId: string;
  readonly userId: string;
  readonly time: string;
}

export interface PersonFact {
  readonly kind: 'person';
  readonly distinctId: string;
  /** May continue behind its `Z`, with what decides between facts of one millisecond; no tabs. */
  readonly time: string;
  /** The latest value by source time wins. */
  readonly set?: Values | DeferredValues | undefined;
  /** The earliest value by source time wins. */
  readonly setOnce?: Values | DeferredValues | undefined;
}

/**
 * A name among the values that are set, which says that they are all there are at their time: what an earlier fact
 * set and this one lacks is gone. Never sent.
 */
export const WHOLE_MARK = '$backhaul_whole';

/** The moment of a fact, without what decides between facts of one millisecond. */
export const toMoment = (time: string): string => time.slice(0, MOMENT_LENGTH);
const MOMENT_LENGTH = '2023-05-01T12:00:00.000Z'.length;

type Values = Readonly<Record<string, unknown>>;

/** What a record says of a person, parsed when somebody looks at it. */
export interface DeferredTraits {
  readonly set: Values;
  readonly setOnce: Values;
}

/**
 * Values that are parsed when somebody looks at them: most records of a person repeat what the next one says, and
 * their values are never looked at. Valid as long as the bytes of the record are.
 */
export class DeferredValues {
  /** Of the values that are defined; one set for all records that have the same. */
  readonly keys: ReadonlySet<string>;
  readonly #traits: DeferredTraits;
  readonly #part: keyof DeferredTraits;

  constructor(keys: ReadonlySet<string>, traits: DeferredTraits, part: keyof DeferredTraits) {
    this.keys = keys;
    this.#traits = traits;
    this.#part = part;
  }

  get values(): Values {
    return this.#traits[this.#part];
  }
}

export const readValues = (values: Values | DeferredValues): Values =>
  values instanceof DeferredValues ? values.values : values;

export interface GroupFact {
  readonly kind: 'group';
  readonly groupType: string;
  readonly groupKey: string;
  readonly time: string;
  readonly set: Readonly<Record<string, unknown>>;
}

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
  readonly time: string;
  /** The latest value by source time wins. */
  readonly set?: Values | DeferredValues | undefined;
  /** The earliest value by source time wins. */
  readonly setOnce?: Values | DeferredValues | undefined;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Values that are parsed when somebody looks at them: most records of a person repeat what the next one says, and
 * their values are never looked at.
 */
export class DeferredValues {
  /** Of the values that are defined; one set for all records that have the same. */
  readonly keys: ReadonlySet<string>;
  readonly #read: () => Values;
  #values: Values | undefined;

  constructor(keys: ReadonlySet<string>, read: () => Values) {
    this.keys = keys;
    this.#read = read;
  }

  get values(): Values {
    this.#values ??= this.#read();
    return this.#values;
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

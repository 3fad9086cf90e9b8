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
  readonly set?: Readonly<Record<string, unknown>>;
  /** The earliest value by source time wins. */
  readonly setOnce?: Readonly<Record<string, unknown>>;
}

export interface GroupFact {
  readonly kind: 'group';
  readonly groupType: string;
  readonly groupKey: string;
  readonly time: string;
  readonly set: Readonly<Record<string, unknown>>;
}

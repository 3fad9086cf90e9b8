/** The expected result of importing the sample, to compare with its report. */
export interface SampleFacts {
  readonly members: number;
  /** Before compression. */
  readonly bytes: number;
  readonly records: number;
  readonly delivered: number;
  readonly skipped: {
    readonly session_marker: number;
    readonly feeds_people: number;
    readonly feeds_groups: number;
  };
  readonly duplicates: number;
  readonly rejected: {
    readonly no_identity: number;
    readonly bad_timestamp: number;
    readonly unreadable: number;
  };
  /** Delivered records by `event_type`. */
  readonly deliveredByType: Readonly<Record<string, number>>;
  /** Delivered records by UTC day of `event_time`. */
  readonly deliveredByDay: Readonly<Record<string, number>>;
  readonly persons: {
    /** Anonymous ids seen with exactly one user. */
    readonly pairs: number;
    /** Anonymous ids seen with several users. */
    readonly sharedDevices: number;
    /** Ids with properties, once pairs are merged. */
    readonly persons: number;
    readonly groups: number;
  };
}

export type SampleOutcome =
  | 'delivered'
  | 'duplicate'
  | keyof SampleFacts['skipped']
  | keyof SampleFacts['rejected'];

/** Counts the expected results while the sample is written. */
export class FactsBuilder {
  readonly #outcomes = new Map<SampleOutcome, number>();
  readonly #byType = new Map<string, number>();
  readonly #byDay = new Map<string, number>();
  readonly #usersByDevice = new Map<string, Set<string>>();
  readonly #described = new Set<string>();
  readonly #groups = new Set<string>();
  records = 0;

  count(outcome: SampleOutcome, type: string, day: string): void {
    this.records += 1;
    increase(this.#outcomes, outcome);
    if (outcome !== 'delivered') return;
    increase(this.#byType, type);
    increase(this.#byDay, day);
  }

  /** A readable record of `deviceId`, and of `userId` where it is known. */
  seen(deviceId: string, userId: string | undefined, hasTraits: boolean): void {
    if (hasTraits) this.#described.add(userId ?? deviceId);
    if (userId === undefined) return;
    const users = this.#usersByDevice.get(deviceId);
    if (users) users.add(userId);
    else this.#usersByDevice.set(deviceId, new Set([userId]));
  }

  group(key: string): void {
    this.#groups.add(key);
  }

  build(members: number, bytes: number): SampleFacts {
    const getCount = (outcome: SampleOutcome) => this.#outcomes.get(outcome) ?? 0;
    const accepted = new Map<string, string>();
    for (const [device, users] of this.#usersByDevice) {
      const [user] = users;
      if (users.size === 1 && user !== undefined) accepted.set(device, user);
    }
    return {
      members,
      bytes,
      records: this.records,
      delivered: getCount('delivered'),
      skipped: {
        session_marker: getCount('session_marker'),
        feeds_people: getCount('feeds_people'),
        feeds_groups: getCount('feeds_groups'),
      },
      duplicates: getCount('duplicate'),
      rejected: {
        no_identity: getCount('no_identity'),
        bad_timestamp: getCount('bad_timestamp'),
        unreadable: getCount('unreadable'),
      },
      deliveredByType: Object.fromEntries(this.#byType),
      deliveredByDay: Object.fromEntries(this.#byDay),
      persons: {
        pairs: accepted.size,
        sharedDevices: this.#usersByDevice.size - accepted.size,
        persons: new Set([...this.#described].map((id) => accepted.get(id) ?? id)).size,
        groups: this.#groups.size,
      },
    };
  }
}

const increase = <K>(counts: Map<K, number>, key: K) => counts.set(key, (counts.get(key) ?? 0) + 1);

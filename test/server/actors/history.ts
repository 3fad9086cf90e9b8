import fc from 'fast-check';

/** An event of a generated history. */
export interface Happened {
  readonly uuid: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Property `plan`; empty: the event has none. */
  readonly plan: string;
  /** Property `amount`. */
  readonly amount: number;
  /** Property `$session_id`; empty: the event has none. */
  readonly session: string;
  /** It is one of the action that the history is tried with. */
  readonly isOfAction?: boolean;
}

/** Somebody with all events of theirs, under whatever ids. */
export interface Somebody {
  /** Of the first id; the second is `<id>-visitor`. */
  readonly id: string;
  /**
   * `plain`: one id. `merged`: half of the events came in under another id, which turned out to be theirs.
   * `robot`: without a person.
   */
  readonly kind: 'plain' | 'merged' | 'robot';
  readonly events: readonly Happened[];
}

export const NAMES = ['a', 'b', 'c'] as const;
const PLANS = ['', 'x', 'y', 'z'] as const;

/** A Sunday. Events are of the 17 days from then on, which end before NOW (insights/lab.ts). */
export const FIRST_DAY = Date.parse('2023-12-24T00:00:00Z');
const DAYS = 17;
const MINUTE = 60_000;
/** Few moments, at the edges of days, so that everything coincides that can. */
const MOMENTS = [0, MINUTE, 2 * MINUTE, 720 * MINUTE, 1440 * MINUTE - 1];

const event = fc.record({
  name: fc.constantFrom(...NAMES),
  day: fc.nat(DAYS - 1),
  moment: fc.constantFrom(...MOMENTS),
  plan: fc.constantFrom(...PLANS),
  amount: fc.integer({ min: -3, max: 3 }),
  session: fc.constantFrom('', 's', 't'),
  order: fc.nat(0xffff),
});

const somebody = fc.record({
  kind: fc.constantFrom('plain' as const, 'plain' as const, 'merged' as const, 'robot' as const),
  events: fc.array(event, { minLength: 1, maxLength: 8 }),
});

/** Events of one moment are in the order of their uuids, which is not the one they come in. */
export const histories: fc.Arbitrary<Somebody[]> = fc
  .array(somebody, { minLength: 1, maxLength: 6 })
  .map((people) =>
    people.map(({ kind, events }, index) => ({
      id: `p${index}`,
      kind,
      events: events
        .map(({ day, moment, order, session, ...rest }, place) => ({
          ...rest,
          session: session && `${session}${index}`,
          at: FIRST_DAY + day * 1440 * MINUTE + moment,
          uuid: `${hex(order, 8)}-0000-4000-8000-${hex(index, 6)}${hex(place, 6)}`,
        }))
        .sort((one, other) => one.at - other.at || (one.uuid < other.uuid ? -1 : 1)),
    })),
  );

const hex = (value: number, length: number) => value.toString(16).padStart(length, '0');

/** Property `$current_url` of an event. */
export const urlOf = ({ name, plan }: Pick<Happened, 'name' | 'plan'>): string =>
  `https://shop.example/${name}/${plan}`;

const TEAMS = ['', 'x', 'y'] as const;

/** Property `team` of a person; empty: they have none, or there is no person. */
export const teamOf = ({ id, kind }: Pick<Somebody, 'id' | 'kind'>): string =>
  kind === 'robot' ? '' : (TEAMS[Number(id.slice(1)) % TEAMS.length] ?? '');

/** The same as events of a batch, in order of time. */
export function toBatch(people: readonly Somebody[]): Record<string, unknown>[] {
  const events = people.flatMap(({ id, kind, events: own }) =>
    own.map(({ uuid, name, at, plan, amount, session }, index) => ({
      uuid,
      event: name,
      timestamp: new Date(at).toISOString(),
      properties: {
        distinct_id: kind === 'merged' && index % 2 === 1 ? `${id}-visitor` : id,
        amount,
        $current_url: urlOf({ name, plan }),
        ...(plan === '' ? {} : { plan }),
        ...(session === '' ? {} : { $session_id: session }),
        ...(teamOf({ id, kind }) === '' ? {} : { $set: { team: teamOf({ id, kind }) } }),
        ...(kind === 'robot' ? { $process_person_profile: false } : {}),
      },
    })),
  );
  const merges = people
    .filter(({ kind }) => kind === 'merged')
    .map(({ id, events: own }) => ({
      event: '$identify',
      timestamp: new Date(own.at(-1)?.at ?? FIRST_DAY).toISOString(),
      properties: { distinct_id: id, $anon_distinct_id: `${id}-visitor` },
    }));
  return [
    ...events.sort((one, other) =>
      one.timestamp < other.timestamp ? -1 : one.timestamp > other.timestamp ? 1 : 0,
    ),
    ...merges,
  ];
}

import type { StoredEvent } from './strict-destination.ts';

type Values = Record<string, unknown>;

export interface LivePerson {
  /** Sorted. */
  readonly ids: readonly string[];
  readonly properties: Readonly<Values>;
}

export interface GroupValue {
  /** Type and key of the group, and the name of the property. */
  readonly of: string;
  readonly value: unknown;
}

export interface Replaced {
  readonly id: string;
  readonly name: string;
  readonly before: unknown;
  readonly value: unknown;
}

/** As the bundled API takes them. */
const GROUP_EVENTS = new Set(['$group_identify', '$groupidentify']);

/** Persons as the service makes them of events in the order of their arrival. */
export function createLivePersons() {
  const taken = new Set<string>();
  const persons = new Map<string, { ids: Set<string>; properties: Values }>();
  const merges: string[] = [];
  const groupValues: GroupValue[] = [];
  const replaced: Replaced[] = [];

  const find = (id: string) => {
    const known = persons.get(id);
    if (known) return known;
    const fresh = { ids: new Set([id]), properties: {} };
    persons.set(id, fresh);
    return fresh;
  };
  const merge = (anonId: string, userId: string) => {
    const [other, into] = [find(anonId), find(userId)];
    if (other === into) return;
    // Of two values under one name the one of the person that is merged into stays.
    into.properties = { ...other.properties, ...into.properties };
    for (const id of other.ids) {
      into.ids.add(id);
      persons.set(id, into);
    }
  };

  return {
    /** Those with the uuid, name, distinct_id and day of an earlier one are repeats. */
    take({ uuid, event, distinctId, timestamp, properties }: StoredEvent): void {
      const key = [uuid, event, distinctId, timestamp.slice(0, 10)].join();
      if (taken.has(key)) return;
      taken.add(key);
      const anonId = properties['$anon_distinct_id'];
      if (event === '$identify' && typeof anonId === 'string') {
        merge(anonId, distinctId);
        merges.push(`${anonId} → ${distinctId}`);
      }
      if (GROUP_EVENTS.has(event)) {
        const of = `${String(properties['$group_type'])} ${String(properties['$group_key'])}`;
        const set = (properties['$group_set'] ?? {}) as Values;
        for (const [name, value] of Object.entries(set)) groupValues.push({ of: `${of} ${name}`, value });
        return;
      }
      const person = find(distinctId);
      const once = (properties['$set_once'] ?? {}) as Values;
      const set = (properties['$set'] ?? {}) as Values;
      for (const [name, value] of Object.entries(set)) {
        const before = (person.properties as Values)[name];
        if (before !== undefined && before !== value) replaced.push({ id: distinctId, name, before, value });
      }
      person.properties = { ...once, ...person.properties, ...set };
    },
    /** In the order of their arrival, as `device → user`. */
    merges: (): readonly string[] => merges,
    /** Live values of persons that another one has replaced. */
    replaced: (): readonly Replaced[] => replaced,
    /** Properties of groups in the order of their arrival; each replaces the one before. */
    groupValues: (): readonly GroupValue[] => groupValues,
    get: (id: string): LivePerson | undefined => {
      const person = persons.get(id);
      return person && { ids: [...person.ids].sort(), properties: person.properties };
    },
    /** In the order of their first ids. */
    list: (): LivePerson[] =>
      [...new Set(persons.values())]
        .map(({ ids, properties }) => ({ ids: [...ids].sort(), properties }))
        .sort((a, b) => (String(a.ids[0]) < String(b.ids[0]) ? -1 : 1)),
  };
}

export type LivePersons = ReturnType<typeof createLivePersons>;

import type { MapOutcome } from '../../contract/outcome.ts';

/** What the sample alone says about persons and groups; `plan --full` says what a run would send. */
export interface SampledPeople {
  /** Different ids of events. */
  readonly distinctIds: number;
  /** Anonymous ids that records show together with one user. */
  readonly merges: number;
  /** Anonymous ids with several users: shared devices. */
  readonly shared: number;
  /** Ids whose properties are set. */
  readonly withProperties: number;
  readonly groups: number;
}

export function countSampledPeople(outcomes: readonly MapOutcome[]): SampledPeople {
  const ids = new Set<string>();
  const users = new Map<string, Set<string>>();
  const withProperties = new Set<string>();
  const groups = new Set<string>();
  for (const outcome of outcomes) {
    if (outcome.kind === 'rejected') continue;
    if (outcome.kind === 'mapped')
      for (const { properties } of outcome.events) ids.add(properties.distinct_id);
    for (const fact of outcome.facts) {
      if (fact.kind === 'pair')
        users.set(fact.anonId, (users.get(fact.anonId) ?? new Set()).add(fact.userId));
      else if (fact.kind === 'person') withProperties.add(fact.distinctId);
      else if (fact.kind === 'group') groups.add(JSON.stringify([fact.groupType, fact.groupKey]));
    }
  }
  const shared = [...users.values()].filter(({ size }) => size > 1).length;
  return {
    distinctIds: ids.size,
    merges: users.size - shared,
    shared,
    withProperties: withProperties.size,
    groups: groups.size,
  };
}

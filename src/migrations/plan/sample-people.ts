import { isHeardTime } from '../../contract/heard-time.ts';
import type { IdentityFact } from '../../contract/identity-fact.ts';
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
  /** By anonymous id, also where they are only heard. */
  const users = new Map<string, Set<string>>();
  const paired = new Set<string>();
  const withProperties = new Set<string>();
  const groups = new Set<string>();
  for (const outcome of outcomes) {
    if (outcome.kind === 'mapped')
      for (const { properties } of outcome.events) ids.add(properties.distinct_id);
    const facts = outcome.kind === 'rejected' ? NO_FACTS : outcome.facts;
    for (const fact of [...facts, ...(outcome.heard?.facts ?? NO_FACTS)]) {
      if (fact.kind === 'pair') {
        users.set(fact.anonId, (users.get(fact.anonId) ?? new Set()).add(fact.userId));
        if (!isHeardTime(fact.time)) paired.add(fact.anonId);
      } else if (fact.kind === 'person') withProperties.add(fact.distinctId);
      else if (fact.kind === 'group') groups.add(JSON.stringify([fact.groupType, fact.groupKey]));
    }
  }
  const shared = [...paired].filter((id) => (users.get(id)?.size ?? 0) > 1).length;
  return {
    distinctIds: ids.size,
    merges: paired.size - shared,
    shared,
    withProperties: withProperties.size,
    groups: groups.size,
  };
}

const NO_FACTS: readonly IdentityFact[] = [];

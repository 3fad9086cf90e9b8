import { PRIVILEGE, RESTRICTION } from '../../auth/levels.ts';
import type { GuardedPlace } from './places.ts';

/** What the caller may do with an insight, and how far it is restricted. */
export interface InsightLevels {
  readonly restriction: number;
  readonly privilege: number;
}

/** The strictest of its places: a dashboard's restriction covers what it shows. */
export function computeLevels(insightId: number, places: readonly GuardedPlace[]): InsightLevels {
  const here = places.filter((place) => place.insightId === insightId);
  return {
    restriction: Math.max(RESTRICTION.everyone, ...here.map(({ restriction }) => restriction)),
    privilege: Math.min(PRIVILEGE.edit, ...here.map(({ privilege }) => privilege)),
  };
}

/** Those of the insights that the caller, for whom the places were loaded, may edit. */
export const filterEditable = (insightIds: readonly number[], places: readonly GuardedPlace[]): number[] =>
  insightIds.filter((insightId) => mayEdit(computeLevels(insightId, places)));

export const mayEdit = ({ privilege }: InsightLevels): boolean => privilege >= PRIVILEGE.edit;

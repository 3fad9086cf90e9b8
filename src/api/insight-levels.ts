import type { GuardedPlace } from './insight-body.ts';

/** As dashboards have them: 21 everybody may edit, 37 those invited; 21 may view, 37 may edit. */
const [LOW, HIGH] = [21, 37];

/** What one who asks may do with an insight, and how far it is restricted. */
export interface InsightLevels {
  readonly restriction: number;
  readonly privilege: number;
}

/** The strictest of its places: what one dashboard restricts is what it shows. */
export function levelsOf(insightId: number, places: readonly GuardedPlace[]): InsightLevels {
  const here = places.filter((place) => place.insightId === insightId);
  return {
    restriction: Math.max(LOW, ...here.map(({ restriction }) => restriction)),
    privilege: Math.min(HIGH, ...here.map(({ privilege }) => privilege)),
  };
}

/** Those of the insights that the one who asked for the places may edit. */
export const editableOf = (insightIds: readonly number[], places: readonly GuardedPlace[]): number[] =>
  insightIds.filter((insightId) => mayEdit(levelsOf(insightId, places)));

export const mayEdit = ({ privilege }: InsightLevels): boolean => privilege >= HIGH;

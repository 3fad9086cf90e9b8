import type { GuardedPlace } from '../insight-body.ts';

/** As dashboards have them: 21 everybody may edit, 37 those invited; 21 may view, 37 may edit. */
const [LOW, HIGH] = [21, 37];

/** What one who asks may do with an insight, and how far it is restricted. */
export interface InsightLevels {
  readonly restriction: number;
  readonly privilege: number;
}

/** The strictest of the dashboards that show it: what one of them restricts is what it shows. */
export function levelsOf(insightId: number, places: readonly GuardedPlace[]): InsightLevels {
  const shown = places.filter((place) => place.insightId === insightId && !place.deleted);
  return {
    restriction: Math.max(LOW, ...shown.map(({ restriction }) => restriction)),
    privilege: Math.min(HIGH, ...shown.map(({ privilege }) => privilege)),
  };
}

export const mayEdit = ({ privilege }: InsightLevels): boolean => privilege >= HIGH;

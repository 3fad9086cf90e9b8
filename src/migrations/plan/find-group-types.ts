import type { MapOutcome } from '../../contract/outcome.ts';
import { asFields } from '../../sources/mapping/table.ts';
import { counted, printable } from './format-text.ts';

/** Of a project at the destination; it takes the first ones that it sees, and says nothing of the others. */
const MOST_GROUP_TYPES = 5;

/** More types of groups than a project takes, as a sentence; undefined where the sample has no more. */
export function findGroupTypes(outcomes: readonly MapOutcome[]): string | undefined {
  const types = new Set<string>();
  for (const outcome of outcomes) {
    if (outcome.kind === 'rejected') continue;
    for (const fact of outcome.facts) if (fact.kind === 'group') types.add(fact.groupType);
    if (outcome.kind !== 'mapped') continue;
    for (const { properties } of outcome.events)
      for (const type of Object.keys(asFields(properties['$groups']) ?? {})) types.add(type);
  }
  if (types.size <= MOST_GROUP_TYPES) return undefined;
  return (
    `${counted(types.size, 'type')} of groups are in the sample (${[...types].toSorted().map(printable).join(', ')}), and a destination takes ${MOST_GROUP_TYPES} a project: ` +
    'the first that arrive, whichever these are. It ignores groups of the others without a word. Name those to keep in source.groupTypes.'
  );
}

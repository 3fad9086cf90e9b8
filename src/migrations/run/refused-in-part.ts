import type { Repeats } from '../../state/repeats.ts';

/** An accepted event of a record of several, where records with other content have the key of it. */
export interface EventOfSeveral {
  /** Number of its part. */
  readonly source: number;
  readonly record: number;
  readonly key: string;
  readonly content: string;
  /** What it is: `equal` to one that stays. */
  readonly as: 'collides' | 'stays' | 'equal';
}

type Partly = Omit<NonNullable<Repeats['partly']>[number], 'part'> & { readonly source: number };

/**
 * Records that were not delivered as a whole and of which a replay has to send events that were accepted: their row
 * at the destination is that of another record. Where an equal event is of a delivered record, a replay sends it with
 * that one.
 */
export function findPartly(
  events: readonly EventOfSeveral[],
  isDelivered: (source: number, record: number) => boolean,
): Partly[] {
  const toGroup = ({ key, content }: EventOfSeveral) => `${key} ${content}`;
  const delivered = new Set<string>();
  for (const event of events) if (isDelivered(event.source, event.record)) delivered.add(toGroup(event));
  const found = new Map<string, Partly>();
  for (const event of events) {
    const { source, record, key, as } = event;
    if (as === 'equal' || delivered.has(toGroup(event))) continue;
    const id = `${source} ${record}`;
    const known = found.get(id) ?? { source, record, staying: [], colliding: [] };
    found.set(id, known);
    (as === 'stays' ? known.staying : known.colliding).push(key);
  }
  return [...found.values()];
}

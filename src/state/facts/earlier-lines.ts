import { z } from 'zod';
import { renderProperties, toSnapshots } from './snapshots.ts';

/** Lines of version 0.1.0, and of those before its successor: JSON, with every value as JSON text in it. */
export const earlierProperty = z
  .tuple([z.string(), z.string(), z.string()])
  .transform(([key, time, text]) => ({ key, time, text }));
const earlierProperties = z.array(earlierProperty);

const earlierFact = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pair'), anonId: z.string(), userId: z.string(), time: z.string() }),
  z.strictObject({ kind: z.literal('user'), id: z.string() }),
  z.strictObject({
    kind: z.literal('person'),
    id: z.string(),
    set: earlierProperties,
    setOnce: earlierProperties,
  }),
  z.strictObject({
    kind: z.literal('group'),
    groupType: z.string(),
    groupKey: z.string(),
    time: z.string(),
    set: earlierProperties,
  }),
]);

/** As a stored fact. Throws where the line is none. */
export function parseEarlier(line: string) {
  const fact = earlierFact.parse(JSON.parse(line));
  if (fact.kind === 'pair' || fact.kind === 'user') return fact;
  if (fact.kind === 'group') {
    const { set, ...rest } = fact;
    return { ...rest, properties: toProperties(set, []) };
  }
  const { set, setOnce, ...rest } = fact;
  return { ...rest, properties: toProperties(set, setOnce) };
}

type EarlierProperties = z.infer<typeof earlierProperties>;

export const toProperties = (set: EarlierProperties, setOnce: EarlierProperties): string =>
  renderProperties(toSnapshots(set), toSnapshots(setOnce));

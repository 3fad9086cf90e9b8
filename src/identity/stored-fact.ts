import { z } from 'zod';

/** Key, source time of the kept value, the value's canonical JSON text. */
const storedProperty = z.tuple([z.string(), z.string(), z.string()]);
export type StoredProperty = z.infer<typeof storedProperty>;

/**
 * One line of a findings object. A pair lies with its anonymous id, and leaves a `user` mark with
 * its user id, so that each bucket can tell alone whether one of its ids is also used as a user id.
 * A `merge` is a pair that was accepted; it lies with its user id.
 */
export const storedFact = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('pair'), anonId: z.string(), userId: z.string(), time: z.string() }),
  z.strictObject({ kind: z.literal('user'), id: z.string() }),
  z.strictObject({ kind: z.literal('merge'), userId: z.string(), anonId: z.string(), time: z.string() }),
  z.strictObject({
    kind: z.literal('person'),
    id: z.string(),
    set: z.array(storedProperty),
    setOnce: z.array(storedProperty),
  }),
  z.strictObject({
    kind: z.literal('group'),
    groupType: z.string(),
    groupKey: z.string(),
    /** The latest; a group may be known without any property. */
    time: z.string(),
    set: z.array(storedProperty),
  }),
]);
export type StoredFact = z.infer<typeof storedFact>;

/** The id that decides the bucket: all that is known under one id lies together. */
export function pickHomeBucket(finding: StoredFact): string {
  switch (finding.kind) {
    case 'pair':
      return finding.anonId;
    case 'merge':
      return finding.userId;
    case 'group':
      return groupId(finding.groupType, finding.groupKey);
    default:
      return finding.id;
  }
}

/** One text for a group, whatever its type and key contain. */
export const groupId = (groupType: string, groupKey: string): string =>
  `${groupType.length}:${groupType}${groupKey}`;

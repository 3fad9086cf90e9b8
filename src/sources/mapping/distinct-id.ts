import { type Rejected, rejected } from '../../contract/outcome.ts';
import { shown } from '../../lib/preview.ts';
import { ID_MAX_LENGTH, readId, readTrimmedId } from './identity.ts';

/** An id that can be sent, or why not; undefined and junk ids are passed over before. */
export function toDistinctId(id: string | undefined, fields: string): string | Rejected {
  if (id === undefined) return rejected('no_identity', `${fields}: none holds the id of anybody`);
  if (id.length > ID_MAX_LENGTH) {
    return rejected(
      'id_too_long',
      `id ${shown(id)} of ${fields}; the destination cuts ids at ${ID_MAX_LENGTH} characters, and two of them could become one person`,
    );
  }
  return id;
}

/** A longer key would be cut, and two groups could become one. */
export const rejectLongGroupKey = (key: string, fields: string): Rejected =>
  rejected(
    'id_too_long',
    `group key ${shown(key)} of ${fields}; the destination takes at most ${ID_MAX_LENGTH} characters`,
  );

/** The key of a group that is longer than can be sent; undefined for any other value. */
export function readLongGroupKey(value: unknown, { read }: Pick<IdRules, 'read'>): string | undefined {
  const key = read(value);
  return key !== undefined && key.length > ID_MAX_LENGTH ? key : undefined;
}

/** How a version of a mapping reads ids. */
export interface IdRules {
  /** Undefined where there is none, or only a placeholder for none. */
  readonly read: (value: unknown) => string | undefined;
  /** An id that pairs, groups and properties may name: neither junk nor longer than can be sent. */
  readonly readSendable: (value: unknown) => string | undefined;
  /** Whether this names a type of groups. */
  readonly isGroupType: (type: string) => boolean;
  /** Whether every id of a known user is marked as such, and not only those that are paired. */
  readonly marksUsers: boolean;
}

const createIdRules = (rules: Pick<IdRules, 'read' | 'isGroupType' | 'marksUsers'>): IdRules => ({
  ...rules,
  readSendable(value) {
    const id = rules.read(value);
    return id !== undefined && id.length <= ID_MAX_LENGTH ? id : undefined;
  },
});

/** First versions of the mappings: blanks around an id are part of it. */
export const exactIds = createIdRules({ read: readId, isGroupType: () => true, marksUsers: false });

/** Blanks around an id make it no other person, and a blank type of groups is none. */
export const trimmedIds = createIdRules({
  read: readTrimmedId,
  isGroupType: (type) => type.trim() !== '',
  marksUsers: true,
});

/**
 * For what is only heard of a record: of an id that is longer than can be sent, enough to be no other one's, as no id
 * that is sent is as long.
 */
export const toHeardIds = (ids: IdRules): IdRules => ({
  ...ids,
  readSendable: (value) => cutHeardId(ids.read(value)),
});

export const cutHeardId = (id: string | undefined): string | undefined => id?.slice(0, ID_MAX_LENGTH + 1);

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

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
}

const createIdRules = (read: IdRules['read'], isGroupType: IdRules['isGroupType']): IdRules => ({
  read,
  isGroupType,
  readSendable(value) {
    const id = read(value);
    return id !== undefined && id.length <= ID_MAX_LENGTH ? id : undefined;
  },
});

/** First versions of the mappings: blanks around an id are part of it. */
export const exactIds = createIdRules(readId, () => true);

/** Blanks around an id make it no other person, and a blank type of groups is none. */
export const trimmedIds = createIdRules(readTrimmedId, (type) => type.trim() !== '');

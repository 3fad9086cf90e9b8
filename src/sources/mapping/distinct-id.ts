import { type Rejected, rejected } from '../../contract/outcome.ts';
import { shown } from '../../lib/preview.ts';
import { ID_MAX_LENGTH, readId } from './identity.ts';

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

/** An id that pairs, groups and properties may name: neither junk nor longer than can be sent. */
export function readSendableId(value: unknown): string | undefined {
  const id = readId(value);
  return id !== undefined && id.length <= ID_MAX_LENGTH ? id : undefined;
}

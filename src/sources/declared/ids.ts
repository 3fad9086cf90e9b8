import type { Fields } from '../mapping/table.ts';
import type { DeclaredMapping } from './options.ts';

/** The ids of a row as they are, also those that are longer than can be sent. */
export interface DeclaredIds {
  readonly distinctId: string | undefined;
  readonly anonId: string | undefined;
  /** The column names known persons, or is the only one, which may hold both kinds of ids. */
  readonly isKnown: boolean;
  /** It is the id of a known person. */
  readonly isUser: boolean;
}

type ReadId = (record: Fields) => string | undefined;

export function createReadIds(
  { distinctId, anonymousId }: DeclaredMapping,
  readId: (column: string | readonly string[]) => ReadId,
): (record: Fields) => DeclaredIds {
  const columns = [distinctId.column].flat();
  const readPerson = readId(columns);
  // Only the first column names a known person; those after it are ids of the anonymous themselves.
  const readKnown = readId(columns.slice(0, 1));
  const hasOneColumn = columns.length === 1;
  const readAnonymous = anonymousId && readId(anonymousId.column);
  return (record) => {
    const id = readPerson(record);
    const anonId = readAnonymous?.(record);
    const isKnown = hasOneColumn || readKnown(record) === id;
    // An id that is also the anonymous one is no user.
    return { distinctId: id, anonId, isKnown, isUser: isKnown && !(hasOneColumn && anonId === id) };
  };
}

import { type Heard, toHeard } from '../../contract/heard.ts';
import { HEARD_TIME } from '../../contract/heard-time.ts';
import { cutHeardId } from '../mapping/distinct-id.ts';
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
  /**
   * Where none is known: the id of a later column that holds no anonymous ids, such as an address. Nothing says who of
   * the known persons that is, so it is merged with nobody, and its devices are nobody else's.
   */
  readonly laterId: string | undefined;
}

type ReadId = (record: Fields) => string | undefined;

export function createReadIds(
  { distinctId, anonymousId }: DeclaredMapping,
  readId: (column: string | readonly string[]) => ReadId,
): (record: Fields) => DeclaredIds {
  const columns = [distinctId.column].flat();
  const readPerson = readId(columns);
  // Only the first column names a known person, whom anonymous ids are merged into.
  const readKnown = readId(columns.slice(0, 1));
  const hasOneColumn = columns.length === 1;
  const readAnonymous = anonymousId && readId(anonymousId.column);
  const anonymous = new Set([anonymousId?.column ?? []].flat());
  const later = columns.slice(1).filter((column) => !anonymous.has(column));
  const readLater = later.length > 0 ? readId(later) : undefined;
  return (record) => {
    const id = readPerson(record);
    const anonId = readAnonymous?.(record);
    const isKnown = hasOneColumn || readKnown(record) === id;
    // An id that is also the anonymous one is no user.
    const isUser = isKnown && !(hasOneColumn && anonId === id);
    return { distinctId: id, anonId, isKnown, isUser, laterId: isKnown ? undefined : readLater?.(record) };
  };
}

/** What the ids of a row say of devices and users, whatever else is wrong with it. */
export function hearIds({ distinctId, anonId: device, isUser, laterId }: DeclaredIds): Heard | undefined {
  const userId = cutHeardId(isUser ? distinctId : undefined);
  const anonId = cutHeardId(device);
  const person = userId ?? cutHeardId(laterId);
  if (person === undefined) return undefined;
  const isPair = anonId !== undefined && anonId !== person;
  return toHeard({
    facts: isPair ? [{ kind: 'pair', anonId, userId: person, time: HEARD_TIME }] : [],
    userId,
  });
}

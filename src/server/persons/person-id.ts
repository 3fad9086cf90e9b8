import { invalidInput, notFound } from '../http/errors.ts';
import { isUuid, parseRowId } from '../http/row-id.ts';

/** What names a person in a path: the integer of the contract, or the uuid. */
export type PersonId = { readonly id: number } | { readonly uuid: string };

/** Endpoints of the contract that do not exist here: their names are no ids. */
const UNBUILT = ['path'];

/** Whether a path is the one of such an endpoint. */
export const isUnbuilt = (path: string): boolean => {
  const name = /^\/api\/projects\/[^/]+\/persons\/([^/]+)\/?$/.exec(path)?.[1];
  return name !== undefined && UNBUILT.includes(name);
};

export function parsePersonId(text: string): PersonId {
  if (isUuid(text)) return { uuid: text.toLowerCase() };
  if (UNBUILT.includes(text)) throw notFound();
  if (!/^\d+$/.test(text)) {
    throw invalidInput(
      'The ID provided does not look like a personID. If you are using a distinctId, please use /persons?distinct_id=<x> instead.',
    );
  }
  const id = parseRowId(text);
  if (id === undefined) throw personNotFound();
  return { id };
}

export const personNotFound = () => notFound('Person not found.');

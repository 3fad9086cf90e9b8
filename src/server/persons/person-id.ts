import { invalidInput, notFound } from '../http/errors.ts';
import { isUuid, parseRowId } from '../http/row-id.ts';

/** What names a person in a path: the integer of the contract, or the uuid. */
export type PersonId = { readonly id: number } | { readonly uuid: string };

export function parsePersonId(text: string): PersonId {
  if (isUuid(text)) return { uuid: text.toLowerCase() };
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

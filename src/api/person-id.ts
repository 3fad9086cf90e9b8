import { invalidInput, notFound } from './errors.ts';

/** What names a person in a path: the integer of the contract, or the uuid. */
export type PersonId = { readonly id: number } | { readonly uuid: string };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

export function parsePersonId(text: string): PersonId {
  if (isUuid(text)) return { uuid: text.toLowerCase() };
  if (!/^\d+$/.test(text)) {
    throw invalidInput(
      'The ID provided does not look like a personID. If you are using a distinctId, please use /persons?distinct_id=<x> instead.',
    );
  }
  if (Number(text) >= 2 ** 31) throw personNotFound();
  return { id: Number(text) };
}

export const personNotFound = () => notFound('Person not found.');

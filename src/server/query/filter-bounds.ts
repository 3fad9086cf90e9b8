import { invalidInput } from '../http/errors.ts';

/** What one filter may hold; cohorts that list their people by e-mail need many values. */
export const MAX_ITEMS = 200;
export const MAX_DEPTH = 10;
export const MAX_VALUES = 10_000;
export const MAX_TEXT_CHARACTERS = 1_000_000;

export interface Bounds {
  countItem(depth: number): void;
  countValue(characters: number): void;
}

/** Counts what a filter holds while it is read, and refuses it where it holds too much. */
export function createBounds(attr: string): Bounds {
  let items = 0;
  let values = 0;
  let characters = 0;
  const refuse = (limit: string): never => {
    throw invalidInput(`A filter may have ${limit}.`, attr);
  };
  return {
    countItem(depth) {
      items += 1;
      if (items > MAX_ITEMS) refuse(`${MAX_ITEMS} items at most`);
      if (depth > MAX_DEPTH) refuse(`groups ${MAX_DEPTH} levels deep at most`);
    },
    countValue(length) {
      values += 1;
      characters += length;
      if (values > MAX_VALUES) refuse(`${MAX_VALUES} values at most`);
      if (characters > MAX_TEXT_CHARACTERS) refuse(`${MAX_TEXT_CHARACTERS} characters of values at most`);
    },
  };
}

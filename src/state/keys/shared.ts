import { JSON_END, toOrdinal } from './ordinal.ts';

/** Who imports the file of an export into this staging, and what has not ended; each is created once. */
export const IMPORTS = '_imports/';

export const toImportKey = (number: number): string => `${IMPORTS}${toOrdinal(number)}${JSON_END}`;

/** A file of places that migrations pin, by its SHA-256. */
export const toPlacesKey = (sha256: string): string => `_places/${sha256}.mmdb`;

/** Marks that events have been sent under budgets before. */
export const BUDGETS = '_budgets/';

/** That of the budget `name`. */
export const toBudgetKey = (name: string): string => `${BUDGETS}${name}${JSON_END}`;

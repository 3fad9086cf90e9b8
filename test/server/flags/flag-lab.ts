import { flagFiltersSchema } from '../../../config/flags.ts';
import type { Db } from '../../../src/server/database/db.ts';
import type { Facts, Stored, Subject } from '../../../src/server/flags/evaluate/facts.ts';
import type { Flag } from '../../../src/server/flags/flag.ts';
import { parseFlag } from '../../../src/server/flags/parse-flag.ts';
import { insertFlag } from '../../../src/server/flags/store.ts';
import type { JsonObject } from '../../../src/server/http/json.ts';

export const NOW = Date.parse('2024-03-10T12:00:00Z');

let lastId = 0;

export function makeFlag(key: string, filters: object, more: { readonly keepsValue?: boolean } = {}): Flag {
  lastId += 1;
  return parseFlag({
    id: lastId,
    key,
    version: 1,
    keepsValue: more.keepsValue ?? false,
    filters: flagFiltersSchema.parse(filters),
  });
}

export const found = (properties: JsonObject, cohorts: readonly number[] = []): Stored => ({
  kind: 'found',
  properties,
  cohorts: new Set(cohorts),
});

export const subject = (
  identifier: string,
  stored: Stored = { kind: 'none' },
  given: JsonObject = {},
): Subject => ({
  identifier,
  stored,
  given,
  now: NOW,
});

export const person = (distinctId: string, stored?: Stored, given?: JsonObject): Facts => ({
  person: subject(distinctId, stored, given),
  groups: new Map(),
  hashKeys: new Map(),
});

/** Stores an active flag as it is, without the checks of the API. */
export const addFlag = (
  db: Db,
  projectId: number,
  key: string,
  filters: object,
  more: { readonly keepsValue?: boolean } = {},
): Promise<number> =>
  insertFlag(db, projectId, null, { key, name: '', active: true, keepsValue: false, filters, ...more });

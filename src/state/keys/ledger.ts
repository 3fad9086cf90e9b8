import { JSON_END, parseOrdinal, toOrdinal } from './ordinal.ts';

/** Every ledger, one folder each. */
export const LEDGERS = '_ledgers/';

/**
 * Tables of a ledger: of distinct ids, of properties of persons and groups, of vendors' persons that were joined, and of
 * ids that got another one.
 */
export type LedgerTable = 'ids' | 'properties' | 'joined' | 'earlier';

/** Keys of the ledger of one destination and project. */
export const ledgerLayout = (id: string) => {
  const prefix = `${LEDGERS}${id}/`;
  return {
    prefix,
    document: `${prefix}ledger${JSON_END}`,
    /** Marks that the hashes were dropped; it outlives a ledger that is made again. */
    forgotten: `${prefix}forgotten${JSON_END}`,
    /** Marks that it was exported with its migrations, or that their import has not ended. */
    moved: `${prefix}moved${JSON_END}`,
    /** The versions of all buckets, again and again; each is created once, and the newest counts. */
    allVersions: `${prefix}versions/`,
    versions: (number: number) => `${prefix}versions/${toOrdinal(number)}${JSON_END}`,
    knownFacts: `${prefix}known/`,
    /** Turns are counted over all migrations; each is created once, and ends once. */
    turns: `${prefix}turns/`,
    turn: (turn: number) => `${prefix}turns/${toOrdinal(turn)}${JSON_END}`,
    endedTurns: `${prefix}ended/`,
    endedTurn: (turn: number) => `${prefix}ended/${toOrdinal(turn)}${JSON_END}`,
    /** Which facts of a migration the ledger knows. */
    known: (migration: string) => `${prefix}known/${migration}${JSON_END}`,
    table: (table: LedgerTable) => `${prefix}${table}/`,
    version: (table: LedgerTable, bucket: number, version: number) =>
      `${prefix}${table}/${String(bucket).padStart(2, '0')}/${toOrdinal(version)}`,
  };
};

/** Bucket and version of `_ledgers/<id>/ids/07/00000003`; undefined for any other name. */
export function parseVersionKey(key: string): { bucket: number; version: number } | undefined {
  const version = parseOrdinal(/\/\d{2,}\/(\d{8,})$/, key);
  const bucket = parseOrdinal(/\/(\d{2,})\/\d{8,}$/, key);
  return version !== undefined && bucket !== undefined ? { bucket, version } : undefined;
}

/** The ledger's id of `_ledgers/<id>/known/<migration>.json`, or undefined for every other key. */
export function parseKnownKey(key: string, migration: string): string | undefined {
  const id = key.slice(LEDGERS.length, key.indexOf('/', LEDGERS.length));
  return key === ledgerLayout(id).known(migration) ? id : undefined;
}

/** The ledger's id of `_ledgers/<id>/turns/<turn>.json`, or undefined for every other key. */
export function parseLedgerOfTurn(key: string, turn: number): string | undefined {
  const id = key.slice(LEDGERS.length, key.indexOf('/', LEDGERS.length));
  return key === ledgerLayout(id).turn(turn) ? id : undefined;
}

/** `shop` of `_ledgers/<id>/known/shop.json`; undefined for any other name than those that manifests may give. */
export const parseKnownName = (key: string): string | undefined =>
  /\/known\/([a-z0-9][a-z0-9_.-]*)\.json$/.exec(key)?.[1];

export const isLedgerKey = (key: string): boolean => key.startsWith(LEDGERS);

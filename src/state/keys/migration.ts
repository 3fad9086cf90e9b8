import { JSON_END, parseOrdinal, toOrdinal } from './ordinal.ts';
import { toFactsKey, type Writer } from './parts.ts';
import { turnLayout } from './turn.ts';

/** Records of all migrations, apart from their folders: listing them must not list every part. */
export const RECORDS = '_migrations/';

/** Keys of the migration `name`, all but its record below `<name>/`. */
export const layout = (name: string) => {
  const prefix = `${name}/`;
  return {
    prefix,
    record: `${RECORDS}${name}${JSON_END}`,
    /** The states of the migration, one after the other; each is created once. */
    controls: `${prefix}control/`,
    control: (number: number) => `${prefix}control/${toOrdinal(number)}${JSON_END}`,
    /** Attempts to tell the webhook of a state, by the number of the state. */
    notices: `${prefix}notices/`,
    /**
     * Each epoch has its own, so that an older one changes nothing of a newer one (I5), and each migration of the name:
     * `id` is that of the migration, absent in what earlier versions wrote.
     */
    reports: `${prefix}reports/`,
    report: (epoch: number, id?: string) => `${prefix}reports/${toOrdinal(epoch)}${toOwn(id)}${JSON_END}`,
    progressNotes: `${prefix}progress/`,
    progress: (epoch: number, id?: string) => `${prefix}progress/${toOrdinal(epoch)}${toOwn(id)}${JSON_END}`,
    /** What version 0.1.0 kept in place of these. */
    oldControl: `${prefix}control.json`,
    oldReport: `${prefix}report.json`,
    oldProgress: `${prefix}progress.json`,
    /** How many events its records are, where that was counted; like the next two of an earlier version without an id. */
    volume: (id?: string) => `${prefix}volume${toOwn(id)}${JSON_END}`,
    /** Fingerprint of the key that personal data is hashed with. */
    hashKey: (id?: string) => `${prefix}hash-key${toOwn(id)}${JSON_END}`,
    /** Marks that the destination accepted an event. */
    accepted: (id?: string) => `${prefix}accepted${toOwn(id)}${JSON_END}`,
    /** What the last comparison with the destination came to. */
    verifications: `${prefix}verifications/`,
    verification: (number: number) => `${prefix}verifications/${toOrdinal(number)}${JSON_END}`,
    /** Of a replay: which records of its migration each part holds. */
    origins: `${prefix}origins/`,
    originsOf: (partId: string) => `${prefix}origins/${partId}${JSON_END}`,
    originsOfSlice: (sliceId: string) => `${prefix}origins/${sliceId}/`,
    /** Of a replay: which events of the records of a part were accepted before. */
    sentBeforeOf: (partId: string) => `${prefix}sent-before/${partId}${JSON_END}`,
    topUps: `${prefix}top-ups/`,
    topUp: (number: number) => `${prefix}top-ups/${String(number).padStart(5, '0')}${JSON_END}`,
    epochs: `${prefix}epochs/`,
    epoch: (epoch: number) => `${prefix}epochs/${toOrdinal(epoch)}`,
    receipts: `${prefix}receipts/`,
    receipt: (partId: string) => `${prefix}receipts/${partId}${JSON_END}`,
    checkpointsOf: (partId: string) => `${prefix}checkpoints/${partId}/`,
    /** One object a holder of the part, so that no two writers share one (I5). */
    checkpoint: ({ part, epoch, counter }: Writer) =>
      `${prefix}checkpoints/${part}/${epoch}-${counter}${JSON_END}`,
    rejects: `${prefix}rejects/`,
    rejectsOf: (partId: string) => `${prefix}rejects/${partId}/`,
    rejectSegment: (segment: string) => `${prefix}rejects/${segment}.ndjson.gz`,
    allFindings: `${prefix}findings/`,
    findingsOf: (partId: string) => `${prefix}findings/${partId}/`,
    findings: (segment: string) => toFactsKey(prefix, segment),
    allFingerprints: `${prefix}fingerprints/`,
    fingerprintsOf: (partId: string) => `${prefix}fingerprints/${partId}/`,
    fingerprints: (segment: string) => `${prefix}fingerprints/${segment}.bin`,
    /** What a part may have sent that has no receipt, of a removed migration. */
    givenUp: (partId: string) => `${prefix}fingerprints/${partId}/given-up${JSON_END}`,
    givenUpBody: (partId: string) => `${prefix}fingerprints/${partId}/given-up.bin`,
    /** Folded fingerprints; a generation is named by the receipts that it covers. */
    repeats: `${prefix}repeats/`,
    repeatsResult: (generation: string) => `${prefix}repeats/${generation}/result${JSON_END}`,
    repeatsRange: (generation: string, range: string) =>
      `${prefix}repeats/${generation}/ranges/${range}${JSON_END}`,
    /** Of a removed migration: which of its records hold no key against others of its family. */
    foldResult: `${prefix}repeats/kept-result${JSON_END}`,
    /** Below the rejects of the part, like those that its import found. */
    repeatsRejects: (generation: string, range: string, partId: string) =>
      `${prefix}rejects/${partId}/repeats-${generation}-${range}.ndjson.gz`,
    /** All identity facts, with their values, and what was made of them on the way. */
    facts: [`${prefix}findings/`, `${prefix}people/findings/`, `${prefix}people/work/`],
    /** Marks that they were removed. */
    factsRemoved: `${prefix}people/facts-removed${JSON_END}`,
    /** Receipts of ranges of buckets that version 0.1.0 resolved and folded: see `toRangeKey`. */
    resolved: `${prefix}people/resolved/`,
    folded: `${prefix}people/folded/`,
    /** The turns that the migration had at its ledger. */
    turns: `${prefix}people/turns/`,
    turn: (turn: number) => `${prefix}people/turns/${toOrdinal(turn)}${JSON_END}`,
    /** What each of them came to, by the producer of an epoch. */
    endedTurns: `${prefix}people/ended/`,
    /** What its producers wrote. */
    endedTurnOf: (turn: number) => `${prefix}people/ended/${toOrdinal(turn)}/`,
    endedTurn: (turn: number, epoch: number) =>
      `${prefix}people/ended/${toOrdinal(turn)}/${toOrdinal(epoch)}${JSON_END}`,
    /** Each names a migration that sent what this one held, and the turn in which it did. */
    releases: `${prefix}people/released/`,
    releasedIn: (by: string, turn: number) => `${prefix}people/released/${by}/${toOrdinal(turn)}${JSON_END}`,
    /** What earlier versions kept in place of these: the last one. */
    released: `${prefix}people/released${JSON_END}`,
    atTurn: (turn: number) => turnLayout(`${prefix}people/work/${toOrdinal(turn)}/`),
  };
};

export const toOwn = (id: string | undefined): string => (id === undefined ? '' : `-${id.slice(0, 8)}`);

/** Whether a report or a note of progress is of the migration of this id, or of an earlier version, which did not say. */
export const isOwnReport = (key: string, id: string): boolean =>
  key.endsWith(`${toOwn(id)}${JSON_END}`) || !/-[^/-]+\.json$/.test(key);

/**
 * Whether it is a note of progress that says of which migration it is: a process of a removed one may leave it late, and
 * nobody else reads it.
 */
export const isNamedNote = (key: string): boolean => /\/progress\/\d{8,}-[0-9a-f]{8}\.json$/.test(key);

/** The migration that a key belongs to: its folder's name, or that of its record. */
export const parseMigrationName = (key: string): string =>
  key.startsWith(RECORDS) ? key.slice(RECORDS.length, -JSON_END.length) : key.slice(0, key.indexOf('/'));

/** `shop` of `_migrations/shop.json`; undefined for any other name than those that manifests may give. */
export const parseRecordKey = (key: string): string | undefined =>
  /^_migrations\/([a-z0-9][a-z0-9_.-]*)\.json$/.exec(key)?.[1];

/** `7` of `shop/epochs/00000007`; undefined for any other name. */
export const parseEpochKey = (key: string): number | undefined => parseOrdinal(/\/epochs\/(\d{8,})$/, key);

/** `7` of `shop/control/00000007.json`, of a report, a note of progress and the like; undefined for any other name. */
export const parseNumberedKey = (key: string): number | undefined =>
  parseOrdinal(
    /(?:\/(?:control|versions|runs|verifications)|^_imports)\/(\d{8,})\.json$|\/(?:reports|progress)\/(\d{8,})(?:-[0-9a-f]{8})?\.json$/,
    key,
  );

/** The part's id of `shop/receipts/<file>/00000.json`. */
export const parseReceiptKey = (name: string, key: string): string =>
  key.slice(layout(name).receipts.length, -JSON_END.length);

/** The slice that a key of what was staged for a replay is of; undefined for any other key. */
export function parseStagedSlice(name: string, key: string): string | undefined {
  const below = key.slice(layout(name).prefix.length);
  const [, ofPart, ofReceipt] =
    /^(?:(?:parts|origins|sent-before)\/([^/]+)\/|files\/([^/.]+)\.)/.exec(below) ?? [];
  return ofPart ?? ofReceipt;
}

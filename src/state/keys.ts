import type { Packing, PartMeta } from '../contract/part.ts';

/**
 * Every key of staging is built and parsed in this file; ARCHITECTURE.md ("Contents of staging") has the tree.
 * Keys are part of what is stored: a changed key loses what an earlier version wrote under the old one.
 */

/** Records of all migrations, apart from their folders: listing them must not list every part. */
export const RECORDS = '_migrations/';

/** Who imports the file of an export into this staging, and what has not ended; each is created once. */
export const IMPORTS = '_imports/';
export const toImportKey = (number: number): string => `${IMPORTS}${toOrdinal(number)}${JSON_END}`;

/** A file of places that migrations pin, by its SHA-256. */
export const toPlacesKey = (sha256: string): string => `_places/${sha256}.mmdb`;

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
    /** Folded fingerprints; a generation is named by the receipts that it covers. */
    repeats: `${prefix}repeats/`,
    repeatsResult: (generation: string) => `${prefix}repeats/${generation}/result${JSON_END}`,
    repeatsRange: (generation: string, range: string) =>
      `${prefix}repeats/${generation}/ranges/${range}${JSON_END}`,
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

/** The steps of a turn that send; each has a folder of receipts. */
export const SEND_STEPS = ['merged', 'folded'] as const;
export type SendStep = (typeof SEND_STEPS)[number];

/** Working data of one turn, removed when the turn has ended. */
const turnLayout = (prefix: string) => ({
  prefix,
  /** Folder of the facts under their final ids, of one writer. */
  factsBy: (writer: string) => `${prefix}facts/${writer}/`,
  /** Receipts and checkpoints of ranges of buckets: see `toRangeKey`. */
  resolved: `${prefix}resolved/`,
  /** What the vendor says of its persons and of renamed users, as pairs; made before ids are resolved. */
  connected: `${prefix}connected/`,
  merged: `${prefix}merged/`,
  folded: `${prefix}folded/`,
  /** Records of the ledger that say more than the destination accepted; the receipts name those that count. */
  refusedBy: (step: SendStep, range: KeyRange, writer: string) =>
    `${prefix}refused/${step}-${toRangeId(range)}-${writer}.gz`,
  checkpoints: (step: SendStep) => `${prefix}checkpoints/${step}/`,
  /** Marks that ranges are sent again: receipts and checkpoints of earlier attempts count no more. */
  attempts: (step: SendStep) => `${prefix}attempts/${step}/`,
});

export type TurnKeys = ReturnType<typeof turnLayout>;

/** What runs migrations again and again, by the name of the migration. */
export const SCHEDULES = '_schedules/';

export const scheduleLayout = (name: string) => {
  const prefix = `${SCHEDULES}${name}/`;
  return {
    /** The schedule as it was set, paused and so on; each is created once, and the newest counts. */
    versions: `${prefix}versions/`,
    version: (number: number) => `${prefix}versions/${toOrdinal(number)}${JSON_END}`,
    /** What each of its runs came to. */
    runs: `${prefix}runs/`,
    run: (number: number) => `${prefix}runs/${toOrdinal(number)}${JSON_END}`,
    /** Attempts to tell the webhook of a run. */
    notices: `${prefix}notices/`,
  };
};

/** When the webhook was first used: what was before is not told. */
export const NOTICES_SINCE = '_notices/since.json';

/** An attempt to tell the webhook, below one of the folders of notices. */
export const toAttemptKey = (folder: string, { notice, attempt }: AttemptNumber): string =>
  `${folder}${toOrdinal(notice)}/${toOrdinal(attempt)}${JSON_END}`;

/** `shop/notices/00000007/00000002.json` is attempt 2 to tell state 7; undefined for any other name. */
export function parseAttemptKey(key: string): AttemptNumber | undefined {
  const notice = parseOrdinal(/\/notices\/(\d{8,})\/\d{8,}\.json$/, key);
  const attempt = parseOrdinal(/\/notices\/\d{8,}\/(\d{8,})\.json$/, key);
  return notice !== undefined && attempt !== undefined ? { notice, attempt } : undefined;
}

/** `notice` is the number of what is told: of a state, or of a run of a schedule. */
export interface AttemptNumber {
  readonly notice: number;
  readonly attempt: number;
}

/** `shop` of `_schedules/shop/versions/00000001.json`; undefined for any other name. */
export const parseScheduleKey = (key: string): string | undefined =>
  /^_schedules\/([a-z0-9][a-z0-9_.-]*)\/versions\/\d{8,}\.json$/.exec(key)?.[1];

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

/** Turn and epoch of `shop/people/ended/00000007/00000002.json`; undefined for any other name. */
export function parseEndedTurnKey(key: string): { turn: number; epoch: number } | undefined {
  const turn = parseOrdinal(/\/ended\/(\d{8,})\/\d{8,}\.json$/, key);
  const epoch = parseOrdinal(/\/ended\/\d{8,}\/(\d{8,})\.json$/, key);
  return turn !== undefined && epoch !== undefined ? { turn, epoch } : undefined;
}

/** `7` of `…/00000007.json`; undefined for any other name. */
export const parseTurnKey = (key: string): number | undefined => parseOrdinal(/\/(\d{8,})\.json$/, key);

/** A key made of anything else would never be found again, or be found as another. */
function toOrdinal(number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`${number} cannot be part of a key`);
  return String(number).padStart(8, '0');
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

/** Folder in which runs of `plan --full` keep parts and identity facts while they count. */
export const toPlanPrefix = (name: string): string => `_plans/${name}/`;

/** That of one run. */
export const toPlanRunPrefix = (name: string, run: string): string => `${toPlanPrefix(name)}${run}/`;

/** Says since when a run was there the last time, below its folder. */
export const toPlanAliveKey = (prefix: string): string => `${prefix}alive${JSON_END}`;

/** The run that a key below the folder of a plan is of. Earlier versions had one at a time, without a folder of its own. */
export const parsePlanRun = (name: string, key: string): string =>
  key.slice(toPlanPrefix(name).length).split('/')[0] ?? '';

/** Identity facts under their final ids, below the folder of a plan. */
export const toPlanFactsPrefix = (prefix: string): string => `${prefix}people/`;

interface PartsOwner {
  readonly name: string;
  readonly id: string;
  /** See MigrationRecord. */
  readonly partsById?: boolean;
}

/**
 * Folder of the parts of a migration and of the receipts of its slices. It is named by the id: what a process that
 * slept stages for a migration that was removed must not become that of another one with its name.
 */
export const toPartsPrefix = ({ name, id, partsById = false }: PartsOwner): string =>
  partsById ? `${name}/staged/${id}/` : layout(name).prefix;

/** Keys of staged files and their parts below the folder of the parts of a migration, or of a plan. */
export const partKeys = (prefix: string) => ({
  parts: `${prefix}parts/`,
  fileParts: (fileId: string) => `${prefix}parts/${fileId}/`,
  /** Named by its content, so that a writer of other content replaces nothing (I5). */
  body: ({ id, packing, sha256 }: Pick<PartMeta, 'id' | 'packing' | 'sha256'>) =>
    packing === undefined
      ? `${prefix}parts/${id}.gz`
      : `${prefix}parts/${id}.${sha256.slice(0, 16)}${BODY_ENDS[packing]}`,
  description: (partId: string) => `${prefix}parts/${partId}${JSON_END}`,
  receipts: `${prefix}files/`,
  /** Versions of the receipt of one slice begin so. */
  receiptVersions: (fileId: string) => `${prefix}files/${fileId}.`,
  /** A later version stands beside the earlier ones: no version is ever replaced (I5). */
  receipt: (fileId: string, version: number) =>
    version === 1
      ? `${prefix}files/${fileId}${JSON_END}`
      : `${prefix}files/${fileId}.${toOrdinal(version)}${JSON_END}`,
});

const BODY_ENDS: Readonly<Record<Packing, string>> = { none: '.frames', brotli: '.frames.br' };

/** Number, packing and the start of the digest of `shop/parts/<file>/00000.<hash>.frames`; undefined for any other name. */
export function parseBodyKey(
  key: string,
): { number: number; sha256Start: string; packing: Packing } | undefined {
  const [, digits, sha256Start, packed] = /\/(\d{5,})\.([0-9a-f]{16})\.frames(\.br)?$/.exec(key) ?? [];
  return digits !== undefined && sha256Start !== undefined
    ? { number: Number(digits), sha256Start, packing: packed ? 'brotli' : 'none' }
    : undefined;
}

/** Marks that events have been sent under budgets before. */
export const BUDGETS = '_budgets/';

/** That of the budget `name`. */
export const toBudgetKey = (name: string): string => `${BUDGETS}${name}${JSON_END}`;

/** Identity facts of one part, below the folder of a migration or of a plan. */
export const toFactsKey = (prefix: string, segment: string): string => `${prefix}findings/${segment}.gz`;

/** Object `number` of the resolved identity facts of a range of buckets, below the folder of its writer. */
export const toResolvedFactsKey = (folder: string, range: KeyRange, number: number): string =>
  `${folder}${toRangeId(range)}-${String(number).padStart(4, '0')}.gz`;

/** Object `number` of the accepted merges of a range of buckets, below the folder of its writer. */
export const toMergesKey = (folder: string, range: KeyRange, number: number): string =>
  `${folder}${toRangeId(range)}-merges-${String(number).padStart(4, '0')}.gz`;

/** Buckets from `from` up to, but not including, `to`. */
interface KeyRange {
  readonly from: number;
  readonly to: number;
}

/** Receipt or checkpoint of a range, below one of the folders of `atTurn`; each further attempt has its own. */
export const toRangeKey = (folder: string, range: KeyRange, attempt = 1): string =>
  `${folder}${toRangeId(range)}${attempt === 1 ? '' : `.${attempt}`}${JSON_END}`;

/** The range and the attempt of `…/8-16.json` and `…/8-16.2.json`; undefined for any other name. */
export function parseRangeKey(key: string): (KeyRange & { readonly attempt: number }) | undefined {
  const [, from, to, attempt = '1'] = /\/(\d+)-(\d+)(?:\.(\d+))?\.json$/.exec(key) ?? [];
  return from !== undefined && to !== undefined
    ? { from: Number(from), to: Number(to), attempt: Number(attempt) }
    : undefined;
}

export const toRangeId = ({ from, to }: KeyRange): string => `${from}-${to}`;

/** The id of a part is unique in its migration and is part of the keys of all that belongs to it. */
export const toPartId = (fileId: string, number: number): string =>
  `${fileId}/${String(number).padStart(5, '0')}`;

/** The slice that a key of what was staged for a replay is of; undefined for any other key. */
export function parseStagedSlice(name: string, key: string): string | undefined {
  const below = key.slice(layout(name).prefix.length);
  const [, ofPart, ofReceipt] =
    /^(?:(?:parts|origins|sent-before)\/([^/]+)\/|files\/([^/.]+)\.)/.exec(below) ?? [];
  return ofPart ?? ofReceipt;
}

/** The slice that a part is of. */
export const parseSliceId = (partId: string): string => partId.slice(0, partId.lastIndexOf('/'));

/** The holder of a part, by its fence. */
interface Writer {
  readonly part: string;
  readonly epoch: number;
  readonly counter: number;
}

/** Rejects and identity facts carry the fence of their writer, so that no two writers share an object (I5). */
export const toSegmentName = ({ part, epoch, counter }: Writer, position: number): string =>
  `${part}/${epoch}-${counter}-${position}`;

/**
 * The same below the name of a migration that may be given again: a worker of one that was removed has the same fences, and
 * would replace what another one left.
 */
export const toOwnSegment = (
  segment: string,
  { id, partsById = false }: Pick<PartsOwner, 'id' | 'partsById'>,
) => (partsById ? `${segment}${toOwn(id)}` : segment);

const toOwn = (id: string | undefined): string => (id === undefined ? '' : `-${id.slice(0, 8)}`);

/** Whether a report or a note of progress is of the migration of this id, or of an earlier version, which did not say. */
export const isOwnReport = (key: string, id: string): boolean =>
  key.endsWith(`${toOwn(id)}${JSON_END}`) || !/-[^/-]+\.json$/.test(key);

const JSON_END = '.json';

/**
 * Whether it is a note of progress that says of which migration it is: a process of a removed one may leave it late, and
 * nobody else reads it.
 */
export const isNamedNote = (key: string): boolean => /\/progress\/\d{8,}-[0-9a-f]{8}\.json$/.test(key);

/**
 * Tells descriptions, receipts and other documents from bodies, and from what operating systems leave in folders
 * (`.DS_Store`, `._00000.json`).
 */
export const isDocument = (key: string): boolean =>
  key.endsWith(JSON_END) && !key.startsWith('.', key.lastIndexOf('/') + 1);

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

/** The number that a group of a pattern holds; undefined where the key is none that Backhaul built. */
function parseOrdinal(pattern: RegExp, key: string): number | undefined {
  const digits = pattern
    .exec(key)
    ?.slice(1)
    .find((group) => group !== undefined);
  const number = Number(digits);
  return digits !== undefined && Number.isSafeInteger(number) ? number : undefined;
}

/** The part's id of `shop/receipts/<file>/00000.json`. */
export const parseReceiptKey = (name: string, key: string): string =>
  key.slice(layout(name).receipts.length, -JSON_END.length);

/** Epoch 2 and counter 1 of `shop/checkpoints/<file>/00000/2-1.json`; undefined for any other name. */
export function parseCheckpointKey(key: string): Pick<Writer, 'epoch' | 'counter'> | undefined {
  const [, epoch, counter] = /\/(\d+)-(\d+)\.json$/.exec(key) ?? [];
  return epoch && counter ? { epoch: Number(epoch), counter: Number(counter) } : undefined;
}

/** The part's id of `shop/findings/<file>/00000/2-1-60-<id>.gz`, of its rejects and of its fingerprints. */
export function parsePartOfFindings(name: string, key: string): string | undefined {
  const { allFindings, rejects, allFingerprints } = layout(name);
  const folder = [allFindings, rejects, allFingerprints].find((each) => key.startsWith(each));
  return folder && /^([^/]+\/\d{5,})\/\d+-\d+-\d+(?:-[0-9a-f]{8})?\./.exec(key.slice(folder.length))?.[1];
}

/** The part's id of `<prefix>parts/<file>/00000.json`. */
export const parsePartKey = (prefix: string, key: string): string =>
  key.slice(partKeys(prefix).parts.length, -JSON_END.length);

/** Slice and version of `shop/files/<slice>.json` and `shop/files/<slice>.00000002.json`; undefined for any other name. */
export function parseFileReceiptKey(key: string): { fileId: string; version: number } | undefined {
  const [, fileId, digits = '1'] = /\/files\/([^/.]+)(?:\.(\d{8,}))?\.json$/.exec(key) ?? [];
  const version = Number(digits);
  return fileId !== undefined && Number.isSafeInteger(version) ? { fileId, version } : undefined;
}

/** The migration that a key belongs to: its folder's name, or that of its record. */
export const parseMigrationName = (key: string): string =>
  key.startsWith(RECORDS) ? key.slice(RECORDS.length, -JSON_END.length) : key.slice(0, key.indexOf('/'));

import { JSON_END, parseOrdinal } from './ordinal.ts';

/** The steps of a turn that send; each has a folder of receipts. */
export const SEND_STEPS = ['merged', 'folded'] as const;

export type SendStep = (typeof SEND_STEPS)[number];

/** Working data of one turn, removed when the turn has ended. */
export const turnLayout = (prefix: string) => ({
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

/** Buckets from `from` up to, but not including, `to`. */
interface KeyRange {
  readonly from: number;
  readonly to: number;
}

export const toRangeId = ({ from, to }: KeyRange): string => `${from}-${to}`;

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

/** Object `number` of the resolved identity facts of a range of buckets, below the folder of its writer. */
export const toResolvedFactsKey = (folder: string, range: KeyRange, number: number): string =>
  `${folder}${toRangeId(range)}-${String(number).padStart(4, '0')}.gz`;

/** Object `number` of the accepted merges of a range of buckets, below the folder of its writer. */
export const toMergesKey = (folder: string, range: KeyRange, number: number): string =>
  `${folder}${toRangeId(range)}-merges-${String(number).padStart(4, '0')}.gz`;

/** `7` of `…/00000007.json`; undefined for any other name. */
export const parseTurnKey = (key: string): number | undefined => parseOrdinal(/\/(\d{8,})\.json$/, key);

/** Turn and epoch of `shop/people/ended/00000007/00000002.json`; undefined for any other name. */
export function parseEndedTurnKey(key: string): { turn: number; epoch: number } | undefined {
  const turn = parseOrdinal(/\/ended\/(\d{8,})\/\d{8,}\.json$/, key);
  const epoch = parseOrdinal(/\/ended\/\d{8,}\/(\d{8,})\.json$/, key);
  return turn !== undefined && epoch !== undefined ? { turn, epoch } : undefined;
}

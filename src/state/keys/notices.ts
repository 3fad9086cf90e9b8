import { JSON_END, parseOrdinal, toOrdinal } from './ordinal.ts';

/** When the webhook was first used: what was before is not told. */
export const NOTICES_SINCE = '_notices/since.json';

/** `notice` is the number of what is told: of a state, or of a run of a schedule. */
export interface AttemptNumber {
  readonly notice: number;
  readonly attempt: number;
}

/** An attempt to tell the webhook, below one of the folders of notices. */
export const toAttemptKey = (folder: string, { notice, attempt }: AttemptNumber): string =>
  `${folder}${toOrdinal(notice)}/${toOrdinal(attempt)}${JSON_END}`;

/** `shop/notices/00000007/00000002.json` is attempt 2 to tell state 7; undefined for any other name. */
export function parseAttemptKey(key: string): AttemptNumber | undefined {
  const notice = parseOrdinal(/\/notices\/(\d{8,})\/\d{8,}\.json$/, key);
  const attempt = parseOrdinal(/\/notices\/\d{8,}\/(\d{8,})\.json$/, key);
  return notice !== undefined && attempt !== undefined ? { notice, attempt } : undefined;
}

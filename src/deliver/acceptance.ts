import { tryParseJson } from '../lib/json/parse-json.ts';
import { hasRepeatedName } from '../lib/json/scan-json.ts';

/** An answer by which a destination says yes, beside those that are known: both must hold where both are given. */
export interface Acceptance {
  /** From 200 to 299. Without `fields` it counts only with an empty body. @default 200, 201 or 202, with `fields` */
  readonly status?: number;
  /** Top-level fields of the JSON body, with exactly these values. */
  readonly fields?: Readonly<Record<string, string | number | boolean | null>>;
}

/** What a 2xx answer says about the events of its request. */
export type Verdict =
  | 'accepted'
  /** The service drops events over its quota, and answers with 200. */
  | 'over_quota'
  /** The page of a proxy or of a sign-in: no answer of ingestion at all. */
  | 'page'
  /** It says no, or neither yes nor no. */
  | 'unproven';

/**
 * A 2xx alone proves nothing (I12). Known answers of ingestion are `{"status":1}` and `{"status":"Ok"}`:
 * https://github.com/PostHog/posthog, posthog/api/capture.py and rust/capture/src/api.rs. Beside them only fields
 * that are known to be harmless are believed, as nobody can list all the words for a no. What a manifest declares
 * is believed whatever else is in the body, but never over a field that says no. Other statuses say that the answer
 * is somebody else's (203), or not all of it (206, 207): those must be declared.
 */
export function judgeAnswer(status: number, body: string, declared: Acceptance = {}): Verdict {
  const text = body.trim();
  const answer = toObject(tryParseJson(text));
  if (answer === undefined) {
    if (text.startsWith('<')) return 'page';
    const isDeclared = declared.status === status && declared.fields === undefined && text === '';
    return isDeclared ? 'accepted' : 'unproven';
  }
  if (limitsEvents(answer['quota_limited']) || limitsEvents(answer['quotaLimited'])) return 'over_quota';
  if (hasRepeatedName(text)) return 'unproven'; // one of the two may say no
  if (matches(answer, status, declared)) return saysNo(answer) ? 'unproven' : 'accepted';
  return KNOWN_STATUSES.includes(status) && isKnownYes(answer) ? 'accepted' : 'unproven';
}

const KNOWN_STATUSES = [200, 201, 202];

const toObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

/** `quota_limited` names what was dropped. Recordings have a quota of their own, and are never sent. */
const limitsEvents = (quota: unknown): boolean =>
  Array.isArray(quota) ? quota.some((name) => name !== 'recordings') : Boolean(quota);

/** Fields that say no by holding something: an error, or events that were left out. */
const COMPLAINTS = ['error', 'errors', 'failed', 'failures', 'rejected', 'dropped', 'invalid'];
/** Fields that say no by holding nothing. */
const AGREEMENTS = ['success', 'ok', 'accepted'];

const saysNo = (answer: Record<string, unknown>): boolean =>
  COMPLAINTS.some((name) => isFilled(answer[name])) ||
  AGREEMENTS.some((name) => name in answer && !isFilled(answer[name]));

const isFilled = (value: unknown): boolean => {
  if (typeof value === 'string') return !['', '0', 'false', 'no', 'null'].includes(value.toLowerCase());
  return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);
};

function isKnownYes({ status, ...others }: Record<string, unknown>): boolean {
  if (status !== 1 && !(typeof status === 'string' && status.toLowerCase() === 'ok')) return false;
  return Object.entries(others).every(([name, value]) => isHarmless(name, value));
}

/** Quotas were looked at before. */
const isHarmless = (name: string, value: unknown): boolean =>
  name === 'quota_limited' ||
  name === 'quotaLimited' ||
  (name === 'success' && value === true) ||
  (COMPLAINTS.includes(name) && !isFilled(value));

function matches(answer: Record<string, unknown>, status: number, declared: Acceptance): boolean {
  if (declared.fields === undefined) return false;
  const statuses = declared.status === undefined ? KNOWN_STATUSES : [declared.status];
  if (!statuses.includes(status)) return false;
  return Object.entries(declared.fields).every(([name, value]) => answer[name] === value);
}

import { tryParseJson } from '../lib/json/parse-json.ts';

/** An answer by which a destination says yes, beside those that are known: both must hold where both are given. */
export interface Acceptance {
  /** From 200 to 299. Without `fields` it counts only with an empty body. */
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
 * https://github.com/PostHog/posthog, posthog/api/capture.py and rust/capture/src/api.rs. What a manifest
 * declares is believed as well, but never over a body that names an error or a quota.
 */
export function judgeAnswer(status: number, body: string, declared: Acceptance = {}): Verdict {
  const text = body.trim();
  const answer = toObject(tryParseJson(text));
  if (answer === undefined) {
    if (text.startsWith('<')) return 'page';
    const isDeclared = declared.status === status && declared.fields === undefined && text === '';
    return isDeclared ? 'accepted' : 'unproven';
  }
  if (limitsEvents(answer['quota_limited'])) return 'over_quota';
  if (saysNo(answer)) return 'unproven';
  return isKnownYes(answer['status']) || matches(answer, status, declared) ? 'accepted' : 'unproven';
}

const toObject = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

/** `quota_limited` names what was dropped. Recordings have a quota of their own, and are never sent. */
const limitsEvents = (quota: unknown): boolean =>
  Array.isArray(quota) ? quota.some((name) => name !== 'recordings') : Boolean(quota);

const saysNo = ({ error, errors, success }: Record<string, unknown>): boolean =>
  isFilled(error) || isFilled(errors) || success === false;

const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);

const isKnownYes = (status: unknown): boolean =>
  status === 1 || (typeof status === 'string' && status.toLowerCase() === 'ok');

function matches(answer: Record<string, unknown>, status: number, declared: Acceptance): boolean {
  if (declared.fields === undefined) return false;
  if (declared.status !== undefined && declared.status !== status) return false;
  return Object.entries(declared.fields).every(([name, value]) => answer[name] === value);
}

import { extractErrorText, parseJson } from './error-body-text.ts';
import { parseRetryAfter } from './retry-after.ts';

/** What a destination answered to one request. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  /** At most the first 64 KiB. */
  readonly body: string;
}

/** What an answer means for the events of its request. */
export type Decision =
  | { readonly kind: 'accepted' }
  /** One event or more cannot be taken: find it. */
  | { readonly kind: 'bisect'; readonly detail: string }
  /** The request is too large. */
  | { readonly kind: 'halve'; readonly detail: string }
  /** The operator must act, then the migration goes on. */
  | { readonly kind: 'pause'; readonly message: string }
  | {
      readonly kind: 'retry';
      readonly detail: string;
      /** What the destination asked for. */
      readonly afterMs?: number;
      /** The destination wants fewer requests, from every worker. */
      readonly slowDown: boolean;
    }
  /** Answered by something that is no event ingestion: for a moment a proxy's page, for good a wrong address. */
  | { readonly kind: 'foreign'; readonly detail: string; readonly message: string }
  /** The address or the setting is wrong. */
  | { readonly kind: 'fail'; readonly message: string };

const RETRIED = new Set([408, 425, 429]);

export function classify(answer: Answer, nowMs: number, apiKey = ''): Decision {
  const { status } = answer;
  const words = extractErrorText(answer.body, apiKey);
  const said = words === '' ? `HTTP ${status}` : `HTTP ${status}: ${words}`;

  if (status >= 200 && status < 300) return classifySuccess(answer, words);
  if (status === 400) return { kind: 'bisect', detail: words || 'HTTP 400 without a reason' };
  if (status === 413) return { kind: 'halve', detail: words || 'too large' };
  if (status === 401) {
    return pause(`the destination does not take the project API key (${said})`, 'Check destination.apiKey');
  }
  if (status === 403) {
    return pause(
      `the destination forbids sending to this project (${said})`,
      'Check that the key belongs to the project and may send events',
    );
  }
  // Asking again cannot help until the quota is raised.
  if (status === 402 || (status === 429 && /billing|quota/i.test(words))) return overQuota(said);
  if (RETRIED.has(status) || status >= 500) {
    const afterMs = parseRetryAfter(answer.retryAfter, nowMs);
    const slowDown = status === 429 || afterMs !== undefined;
    return { kind: 'retry', detail: said, slowDown, ...(afterMs === undefined ? {} : { afterMs }) };
  }
  return { kind: 'fail', message: failure(answer, said) };
}

const operatorMust = (what: string, then: string) => `${what}. ${then}, then resume; nothing is lost.`;

const pause = (what: string, then: string): Decision => ({
  kind: 'pause',
  message: operatorMust(what, then),
});

const overQuota = (said: string): Decision =>
  pause(`the destination's quota is used up (${said})`, 'Raise the billing limit of the project');

/**
 * A 2xx alone is no proof: proxies and sign-in pages answer 200 too. Known answers of ingestion are
 * `{"status":1}`, `{"status":"Ok"}`, `1`, `ok` and nothing at all; `quota_limited` names what was dropped.
 */
function classifySuccess(answer: Answer, words: string): Decision {
  const text = answer.body.trim();
  const value = parseJson(text);
  if (text === '' || /^(ok|1)$/i.test(text)) return { kind: 'accepted' };
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const quota: unknown = Reflect.get(value, 'quota_limited');
    if (Array.isArray(quota) && quota.includes('events'))
      return overQuota(`HTTP ${answer.status}, events dropped`);
    const status: unknown = Reflect.get(value, 'status') ?? 1;
    const failed = Boolean(Reflect.get(value, 'error'));
    if (!failed && /^(1|200|ok|success|accepted|true)$/i.test(String(status))) return { kind: 'accepted' };
  }
  const said = `HTTP ${answer.status}, but not with an answer of event ingestion ("${words}")`;
  return {
    kind: 'foreign',
    detail: said,
    message: operatorMust(
      `the destination answers ${said}`,
      'A proxy, a sign-in page or a wrong destination.url may stand between: check destination.url and what stands in front of it',
    ),
  };
}

function failure(answer: Answer, said: string): string {
  const { status } = answer;
  if (status >= 300 && status < 400) {
    const target = answer.location ? ` to ${answer.location}` : '';
    return `the destination redirects${target} (HTTP ${status}), and events are never sent on: set destination.url to the final address`;
  }
  if (status === 404 || status === 405) {
    return `there is no event ingestion under destination.url (${said}): give the address in front of /batch/`;
  }
  return `the destination refuses the request as such (${said}): check destination.url and what stands in front of it`;
}

import { tryParseJson } from '../lib/json/parse-json.ts';
import { shorten } from '../lib/preview.ts';
import { type Acceptance, judgeAnswer } from './acceptance.ts';

/** What a destination responded to one request. */
export interface TargetResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  /** At most the first 64 KiB, and `…` where there is more. */
  readonly body: string;
}

/** What a response means for the events of its request. */
export type Decision =
  | { readonly kind: 'accepted' }
  /** At least one event cannot be taken: find it. */
  | { readonly kind: 'bisect'; readonly detail: string }
  /** The request is too large. */
  | { readonly kind: 'halve'; readonly detail: string }
  /** The operator must act, then the migration continues. */
  | {
      readonly kind: 'pause';
      readonly message: string;
      /** A proxy or a deployment may answer so for a moment, where the key was accepted before. */
      readonly mayPass?: true;
    }
  | {
      readonly kind: 'retry';
      readonly detail: string;
      /** What the destination asked for. */
      readonly afterMs?: number;
      /** The destination wants fewer requests, from every worker. */
      readonly slowDown: boolean;
      /** There are too many requests, whatever is in them. */
      readonly isLimit?: true;
    }
  /** The response is not one of event ingestion: a proxy's page if it passes, a wrong address if it lasts. */
  | { readonly kind: 'foreign'; readonly detail: string; readonly message: string }
  /** A 2xx that does not say that the events were taken (I12). */
  | { readonly kind: 'unproven'; readonly detail: string; readonly message: string }
  /**
   * The key, the address or one event of the request is the reason: other requests tell. `message` is for where none
   * is taken, `error` what it ends with.
   */
  | {
      readonly kind: 'doubt';
      readonly detail: string;
      readonly message: string;
      readonly error: 'pause' | 'config';
      /** Whether the request was answered so several times. */
      readonly isRepeated?: true;
    };

const RETRIED = new Set([408, 425, 429]);

export interface ClassifyOptions {
  /** Masked in every text, in case the response repeats it (I10). */
  readonly apiKey: string;
  /** What the manifest declares as a yes. */
  readonly acceptance?: Acceptance | undefined;
}

export function classify(response: TargetResponse, nowMs: number, options: ClassifyOptions): Decision {
  const { status } = response;
  const text = describe(extractErrorText(response.body), options.apiKey);
  const detail = text === '' ? `HTTP ${status}` : `HTTP ${status}: ${text}`;

  if (status >= 200 && status < 300) return classifySuccess(response, options, text);
  if (status === 400) return { kind: 'bisect', detail: text || 'HTTP 400 without a reason' };
  if (status === 413) return { kind: 'halve', detail: text || 'too large' };
  if (status === 401) {
    const message = renderAdvice(
      `the destination does not accept the project API key (${detail})`,
      'Check destination.apiKey',
    );
    return { kind: 'pause', message, mayPass: true };
  }
  if (status === 403) {
    const message = renderAdvice(
      `the destination forbids sending to this project (${detail})`,
      'Check that the key belongs to the project and may send events',
    );
    return { kind: 'doubt', detail, message, error: 'pause' };
  }
  const afterMs = parseRetryAfter(response.retryAfter, nowMs);
  // A retry cannot succeed until the quota is raised. A quota that says when it is free again is a rate limit.
  const overQuotaWords = afterMs === undefined ? /billing|quota/i : /billing/i;
  if (status === 402 || (status === 429 && overQuotaWords.test(text))) return overQuota(detail);
  if (RETRIED.has(status) || status >= 500) {
    const slowDown = status === 429 || afterMs !== undefined;
    return {
      ...{ kind: 'retry', detail, slowDown },
      ...(afterMs === undefined ? {} : { afterMs }),
      ...(status === 429 ? { isLimit: true } : {}),
    };
  }
  return { kind: 'doubt', detail, message: renderFailure(response, detail), error: 'config' };
}

const renderAdvice = (what: string, action: string) => `${what}. ${action}, then resume; nothing is lost.`;

const overQuota = (detail: string): Decision => ({
  kind: 'pause',
  message: renderAdvice(
    `the destination's quota is used up (${detail})`,
    'Raise the billing limit of the project',
  ),
});

function classifySuccess({ status, body }: TargetResponse, options: ClassifyOptions, text: string): Decision {
  switch (judgeAnswer(status, body, options.acceptance)) {
    case 'accepted':
      return { kind: 'accepted' };
    case 'over_quota':
      return overQuota(`HTTP ${status}, events dropped`);
    case 'page': {
      const detail = `HTTP ${status}, but not with a response of event ingestion ("${text}")`;
      return {
        kind: 'foreign',
        detail,
        message: renderAdvice(
          `the destination responds with ${detail}`,
          'A proxy, a sign-in page or a wrong destination.url may be the cause: check destination.url and what is in front of it',
        ),
      };
    }
    case 'unproven': {
      const detail = renderAnswer({ status, body }, options.apiKey);
      return {
        kind: 'unproven',
        detail,
        message: renderAdvice(
          `the destination answers with ${detail}, which does not say that it took the events`,
          'Look for the events at the destination. If this answer is its yes, declare it as destination.acceptance and run the manifest again; else correct the destination',
        ),
      };
    }
  }
}

function renderFailure({ status, location }: TargetResponse, detail: string): string {
  if (status >= 300 && status < 400) {
    const target = location ? ` to ${describe(location, '')}` : '';
    return `the destination redirects${target} (HTTP ${status}), and redirects are not followed: set destination.url to the final address`;
  }
  if (status === 404 || status === 405) {
    return `there is no event ingestion under destination.url (${detail}): give the address in front of /batch/`;
  }
  return `the destination rejects the whole request (${detail}): check destination.url and what is in front of it`;
}

/** A destination that asks for a longer pause is tried again after this one. */
const LONGEST_PAUSE_MS = 60 * 60 * 1000;

/** Parses a Retry-After header, seconds or an HTTP date. https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(Math.ceil(ms), 0), LONGEST_PAUSE_MS);
}

const LONGEST_TEXT = 200;
const CONTROL = /\p{Cc}/gu;

/** The detail of a JSON error, else the text of the page. */
const extractErrorText = (body: string): string =>
  findDetail(body) ?? body.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ');

/** Status and body of an answer, for people to judge. */
export function renderAnswer(
  { status, body }: Pick<TargetResponse, 'status' | 'body'>,
  secret: string,
): string {
  const seen = describe(body, secret);
  return `HTTP ${status} and ${seen === '' ? 'an empty body' : `the body ${seen}`}`;
}

/** Short enough for a report, without the secret, and without what would control a terminal. */
function describe(text: string, secret: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(CONTROL, '\u{fffd}');
  const safe = secret === '' ? line : line.replaceAll(secret, '***');
  return shorten(safe, LONGEST_TEXT);
}

function findDetail(body: string): string | undefined {
  const value = tryParseJson(body);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const name of ['detail', 'error', 'message']) {
    const text: unknown = Reflect.get(value, name);
    if (typeof text === 'string' && text !== '') return text;
  }
  return undefined;
}

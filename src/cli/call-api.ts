import { setTimeout } from 'node:timers/promises';
import { request } from 'undici';
import { ConfigError, UnavailableError } from '../lib/errors.ts';
import { parseJson } from '../lib/json/parse-json.ts';
import type { BundledApi } from '../runtime/runtime.ts';

export interface ApiCall {
  /** @default GET */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

const PAGE = 1000;
/** So often a question is asked again whose answer is 503: the database may just have been started. */
const ASKED_AGAIN = 60;

/**
 * One call of the bundled API with the data folder's own key. `T` is the body of the response; it is not checked. A GET
 * is repeated each second, up to a minute, while the database is not ready.
 */
export async function callApi<T>(
  { url, personalKey }: Pick<BundledApi, 'url' | 'personalKey'>,
  { method = 'GET', path, body }: ApiCall,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    const {
      statusCode,
      headers,
      body: response,
    } = await request(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${personalKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (statusCode < 300) return (text === '' ? undefined : parseJson(text)) as T;
    const mayRepeat = method === 'GET' && statusCode === 503 && attempt < ASKED_AGAIN;
    if (!mayRepeat) throw toError(statusCode, text, `${method} ${path}`);
    await setTimeout(Number(headers['retry-after'] ?? 1) * 1_000);
  }
}

/** Every page of a list. */
export async function fetchAllPages<T>(
  api: Pick<BundledApi, 'url' | 'personalKey'>,
  path: string,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const page = `${path}?limit=${PAGE}&offset=${all.length}`;
    const { results, next } = await callApi<{ results: T[]; next: string | null }>(api, { path: page });
    all.push(...results);
    if (next === null || results.length === 0) return all;
  }
}

function toError(status: number, text: string, call: string): Error {
  if (status === 401) {
    return new ConfigError(
      'the bundled API refuses the personalKey of keys.json in the data folder: it was revoked. Put another key with scope * in its place and start Backhaul again; a holder of such a key can make one with POST /api/personal_api_keys/. If there is none, remove keys.json: the next start makes new keys, and a new project with them',
    );
  }
  const detail = status === 429 || status >= 500 ? undefined : parseDetail(text);
  if (detail !== undefined) return new ConfigError(detail);
  return new UnavailableError(`the bundled API answered ${status} to ${call}: ${text.slice(0, 200)}`);
}

/** `label: This field may not be blank.`; undefined where the response is no envelope. */
function parseDetail(text: string): string | undefined {
  try {
    const { detail, attr } = parseJson(text) as { detail?: unknown; attr?: unknown };
    if (typeof detail !== 'string') return undefined;
    return typeof attr === 'string' ? `${attr}: ${detail}` : detail;
  } catch {
    return undefined;
  }
}

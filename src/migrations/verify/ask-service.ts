import { z } from 'zod';
import { describeBreak } from '../../deliver/send.ts';
import { explainCertificate } from '../../lib/certificate.ts';
import { ConfigError, UnavailableError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { createBundledCounts } from './bundled-counts.ts';
import type { DestinationCounts, WantedEvents } from './destination-counts.ts';
import { createQueryCounts } from './query-counts.ts';

export interface ServiceAccess {
  /** Address of the service's private API. */
  readonly url: string;
  readonly personalKey: string;
  /** The id of the project, or the key by which events are sent to it. */
  readonly project: { readonly id: string } | { readonly key: string };
  /** Waits between attempts. */
  readonly wait: (ms: number) => Promise<void>;
}

const ANSWERS_WITHIN_MS = 120_000;
const ATTEMPTS = 5;
const FIRST_WAIT_MS = 1_000;
const MOST_WAIT_MS = 60_000;
const MOST_PAGES = 100;

/** Ingestion of the cloud has a host of its own, which answers no questions. https://posthog.com/docs/api */
export const toPrivateUrl = (url: string): string =>
  url.replace(/^(https:\/\/[a-z]+)\.i\.posthog\.com(?=[:/]|$)/, '$1.posthog.com').replace(/\/+$/, '');

/**
 * The numbers of a service at an address. Throws ConfigError where key, scope, project or address are wrong,
 * UnavailableError where it does not answer. No message holds a key (I10).
 */
export async function openServiceCounts(
  access: ServiceAccess,
  wanted: WantedEvents,
): Promise<DestinationCounts> {
  const { project } = access;
  const id = 'id' in project ? project.id : await findProject(access, project.key);
  const base = `/api/projects/${encodeURIComponent(id)}/`;
  const query = async (text: string) => {
    const body = { query: { kind: 'HogQLQuery', query: text }, refresh: 'force_blocking' };
    return requireFound(access, `${base}query/`, await ask(access, `${base}query/`, body));
  };
  const probe = await ask(access, `${base}query/`, {
    query: { kind: 'HogQLQuery', query: 'SELECT 1' },
    refresh: 'force_blocking',
  });
  if (probe !== undefined) return createQueryCounts(query, wanted);
  // A bundled API that runs elsewhere has no queries, and counts of its own.
  return createBundledCounts(
    async (path) => requireFound(access, base + path, await ask(access, base + path)),
    wanted,
  );
}

function requireFound({ url }: ServiceAccess, path: string, body: unknown): unknown {
  if (body !== undefined) return body;
  throw new ConfigError(
    `${url} has nothing at ${path.split('?')[0]}: check --project and --api-url; the address of its private API may be another one than that of ingestion`,
  );
}

const projects = z.object({
  results: z.array(z.object({ id: z.union([z.number(), z.string()]), api_token: z.string().nullish() })),
  next: z.string().nullish(),
});

async function findProject(access: ServiceAccess, projectKey: string): Promise<string> {
  let seen = 0;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const path = `/api/projects/?limit=100&offset=${seen}`;
    const { results, next } = projects.parse(requireFound(access, path, await ask(access, path)));
    const found = results.find(({ api_token: token }) => token === projectKey);
    if (found) return String(found.id);
    seen += results.length;
    if (!next || results.length === 0) break;
  }
  throw new ConfigError(
    'the personal key sees no project with the key that the manifest names: give --project <id>, or a key of the right organization with the scope project:read',
  );
}

/** The body of an answer; undefined for 404. Asks again after 429, 5xx or no answer, a few times. */
async function ask(access: ServiceAccess, path: string, body?: unknown): Promise<unknown> {
  let trouble = '';
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    let waitMs = FIRST_WAIT_MS * 2 ** (attempt - 1);
    try {
      const response = await fetch(access.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${access.personalKey}`, 'content-type': 'application/json' },
        redirect: 'manual', // the key goes nowhere else
        signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status === 404) return undefined;
      if (response.status === 200) return parseAnswer(access, path, text);
      trouble = `${response.status}: ${hideKeys(access, readDetail(text))}`;
      if (response.status !== 429 && response.status < 500) throw explain(access, response.status, trouble);
      waitMs = Math.max(waitMs, 1_000 * Number(response.headers.get('retry-after') ?? 0) || 0);
    } catch (error) {
      if (error instanceof ConfigError || error instanceof UnavailableError) throw error;
      const certificate = explainCertificate(error, access.url);
      if (certificate !== undefined) throw new ConfigError(certificate, error);
      // What fetch itself says is that it failed.
      const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      trouble = hideKeys(access, describeBreak(reason));
    }
    if (attempt < ATTEMPTS) await access.wait(Math.min(waitMs, MOST_WAIT_MS));
  }
  throw new UnavailableError(
    `${access.url} did not answer a question in ${ATTEMPTS} attempts; the last ended with ${trouble}. Verify again later: nothing is changed by it`,
  );
}

function parseAnswer(access: ServiceAccess, path: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ConfigError(
      `${access.url} answers ${path.split('?')[0]} with something that is not JSON: check --api-url, and proxies in front of it`,
    );
  }
}

function explain({ url }: ServiceAccess, status: number, trouble: string): ConfigError {
  if (status === 401 || status === 403)
    return new ConfigError(
      `${url} does not accept BACKHAUL_PERSONAL_API_KEY for this question (${trouble}). Verify takes a personal key with the scope query:read, and project:read where --project is not given`,
    );
  if (status >= 300 && status < 400)
    return new ConfigError(
      `${url} redirects, and the key is sent nowhere else: give the final address as --api-url`,
    );
  return new ConfigError(`${url} refuses the question (${trouble})`);
}

function readDetail(text: string): string {
  try {
    const { detail } = parseJson(text) as { detail?: unknown };
    if (typeof detail === 'string') return detail.slice(0, 300);
  } catch {
    // Shown as it is.
  }
  return text.slice(0, 200);
}

/** A service may repeat a key in its message. */
const hideKeys = ({ personalKey, project }: ServiceAccess, text: string): string =>
  [personalKey, ...('key' in project ? [project.key] : [])].reduce(
    (shown, key) => shown.replaceAll(key, '…'),
    text,
  );

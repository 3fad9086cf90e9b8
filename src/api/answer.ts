import type { Context } from 'hono';
import { toByteStream } from './byte-stream.ts';
import { stringifyJson } from './json.ts';
import { renderJsonInTurns } from './json-in-turns.ts';

/** Answers with JSON in which every number keeps its digits (invariant I9). */
export function answerJson(c: Context, document: unknown, status: 200 | 201 | 202 = 200): Response {
  return c.body(stringifyJson(document), status, { 'content-type': 'application/json' });
}

/** The same for what may be large, such as the results of a dashboard: other requests are served meanwhile. */
export function answerLargeJson(c: Context, document: unknown, status: 200 | 201 = 200): Response {
  return c.body(toByteStream(renderJsonInTurns(document)), status, { 'content-type': 'application/json' });
}

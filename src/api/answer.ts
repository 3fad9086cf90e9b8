import type { Context } from 'hono';
import { stringifyJson } from './json.ts';

/** Answers with JSON in which every number keeps its digits (invariant I9). */
export function answerJson(c: Context, document: unknown, status: 200 | 201 | 202 = 200): Response {
  return c.body(stringifyJson(document), status, { 'content-type': 'application/json' });
}

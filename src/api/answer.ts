import type { Context, TypedResponse } from 'hono';
import type { JSONParsed } from 'hono/utils/types';
import { stringifyJson } from './json.ts';

/**
 * Answers 200 with JSON in which every number keeps its digits (invariant I9). Hono marks typed
 * responses by a phantom type alone, hence the cast.
 */
export function answerJson<T>(c: Context, document: T): Response & TypedResponse<JSONParsed<T>, 200, 'json'> {
  const response = c.body(stringifyJson(document), 200, { 'content-type': 'application/json' });
  return response as unknown as Response & TypedResponse<JSONParsed<T>, 200, 'json'>;
}

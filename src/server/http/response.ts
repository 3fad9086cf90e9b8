import type { Context } from 'hono';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { streamJson } from './stream-json.ts';

/** Responds with JSON in which every number keeps its digits (invariant I9). */
export function respondWithJson(c: Context, document: unknown, status: 200 | 201 | 202 = 200): Response {
  return c.body(stringifyJson(document), status, { 'content-type': 'application/json' });
}

/** The same for large documents, such as the results of a dashboard: other requests run meanwhile. */
export function respondWithLargeJson(c: Context, document: unknown, status: 200 | 201 = 200): Response {
  return c.body(toByteStream(streamJson(document)), status, { 'content-type': 'application/json' });
}

/** Text as the body of a response, made as fast as the client reads it. */
export function toByteStream(texts: AsyncGenerator<string, void, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return();
    },
  });
}

import type { Contender } from './contender.ts';
import { readLines, toDocumentedEvent } from './read-lines.ts';

const BATCH_EVENTS = 1000;

/**
 * A loop that anybody can write: lines, JSON.parse, a dozen properties, a thousand events per request, one
 * request at a time. No persons, no checkpoints, no retries, no compression, no client library.
 */
export const runNaive: Contender = async ({ input, url }) => {
  let records = 0;
  let sent = 0;
  const send = async (batch: readonly object[]) => {
    const response = await fetch(`${url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: 'bench', historical_migration: true, batch }),
    });
    if (!response.ok) throw new Error(`the sink responded with ${response.status}`);
    await response.text();
    sent += batch.length;
  };
  let batch: object[] = [];
  for await (const line of readLines(input)) {
    records += 1;
    batch.push(toEvent(line));
    if (batch.length < BATCH_EVENTS) continue;
    await send(batch);
    batch = [];
  }
  if (batch.length > 0) await send(batch);
  return { records, sent };
};

function toEvent(line: string): object {
  const { distinctId, properties, ...event } = toDocumentedEvent(line);
  return { ...event, properties: { distinct_id: distinctId, ...properties } };
}

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Contender } from './contender.ts';
import { readLines, toDocumentedEvent } from './read-lines.ts';

interface Client {
  capture(event: ReturnType<typeof toDocumentedEvent>): void;
  flush(): Promise<void>;
  shutdown(): Promise<void>;
}
type ClientClass = new (key: string, options: Readonly<Record<string, unknown>>) => Client;

async function loadClient(peers: string): Promise<ClientClass> {
  const path = createRequire(join(peers, 'package.json')).resolve('posthog-node');
  return ((await import(pathToFileURL(path).href)) as { PostHog: ClientClass }).PostHog;
}

/**
 * The documented script: `capture` for each record, `shutdown` in the end, all settings at their defaults. Its
 * queue holds 1,000 events and drops older ones while the destination is slower than the file.
 */
export const runDocumented: Contender = async ({ input, url, peers }) => {
  const PostHog = await loadClient(peers);
  const client = new PostHog('bench', { host: url, historicalMigration: true });
  let records = 0;
  for await (const line of readLines(input)) {
    records += 1;
    client.capture(toDocumentedEvent(line));
  }
  await client.shutdown();
  return { records, sent: records };
};

const FLUSH_AT = 1000;

/** The same with `flushAt: 1000` and a flush that is awaited, so that nothing is dropped. */
export const runAwaited: Contender = async ({ input, url, peers }) => {
  const PostHog = await loadClient(peers);
  const sizes = { flushAt: FLUSH_AT, maxBatchSize: FLUSH_AT, maxQueueSize: 2 * FLUSH_AT };
  const client = new PostHog('bench', { host: url, historicalMigration: true, ...sizes });
  let records = 0;
  for await (const line of readLines(input)) {
    records += 1;
    client.capture(toDocumentedEvent(line));
    if (records % FLUSH_AT === 0) await client.flush();
  }
  await client.shutdown();
  return { records, sent: records };
};

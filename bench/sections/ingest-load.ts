import { gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { Random } from '../../src/demo/random.ts';
import { toDocumentedEvent } from '../contenders/read-lines.ts';
import { createRecordWriter } from '../sample-record.ts';

export interface IngestLoad {
  readonly seed: number;
  readonly events: number;
  /** One event in a hundred has a string with more digits than a double holds. */
  readonly longDigits?: boolean;
}

const BATCH_EVENTS = 1000;
const GZIP_LEVEL = 2;
const RECORDS_A_PERSON = 20;

function* createEvents({ seed, events, longDigits = false }: IngestLoad): Generator<object> {
  const write = createRecordWriter(RECORDS_A_PERSON);
  const random = new Random(seed);
  for (let index = 0; index < events; index += 1) {
    const { distinctId, properties, timestamp, event } = toDocumentedEvent(write(index));
    const note = longDigits && index % 100 === 0 ? { note: 'order 17041189549083496721 was paid' } : {};
    yield {
      event,
      uuid: random.uuid(),
      timestamp: timestamp.toISOString(),
      properties: { distinct_id: `${seed}-${distinctId}`, ...properties, ...note },
    };
  }
}

/** Bodies are made before they are sent, so that this process is quick enough beside the API. */
export async function sendBatches(url: string, apiKey: string, load: IngestLoad): Promise<void> {
  let batch: object[] = [];
  const send = async () => {
    const body = JSON.stringify({ api_key: apiKey, historical_migration: true, batch });
    await post(`${url}/batch/`, gzipSync(body, { level: GZIP_LEVEL }), { 'content-encoding': 'gzip' });
    batch = [];
  };
  for (const event of createEvents(load)) {
    batch.push(event);
    if (batch.length === BATCH_EVENTS) await send();
  }
  if (batch.length > 0) await send();
}

/** Bodies of one event each. */
export function createSingles(apiKey: string, load: IngestLoad): Buffer[] {
  return Array.from(createEvents(load), (event) =>
    Buffer.from(JSON.stringify({ api_key: apiKey, ...event })),
  );
}

/**
 * Every client sends one body after the other. With `fetch` the clients would take more of a processor than the
 * API does, so that the rate would be theirs.
 */
export async function sendSingles(url: string, bodies: readonly Buffer[], clients: number): Promise<void> {
  const left = bodies.values();
  const pool = new Pool(url, { connections: clients });
  const client = async () => {
    for (const body of left) {
      const headers = { 'content-type': 'application/json' };
      const response = await pool.request({ path: '/capture/', method: 'POST', headers, body });
      const text = await response.body.text();
      if (response.statusCode !== 200) {
        throw new Error(`${url} responded with ${response.statusCode}: ${text.slice(0, 300)}`);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: clients }, client));
  } finally {
    await pool.destroy();
  }
}

async function post(url: string, body: string | Buffer, headers: Record<string, string>): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text.slice(0, 300)}`);
}

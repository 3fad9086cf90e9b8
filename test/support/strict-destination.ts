import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as timer } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { createRandom } from './seeded-random.ts';

/**
 * A stand-in destination, as strict as the real services: gzip, the envelope, every rule an event
 * must keep, and a whole batch refused for one bad event. On request it fails the ways they fail.
 */
export interface StrictDestinationOptions {
  readonly apiKey: string;
  /** Other keys of the same project. */
  readonly otherKeys?: readonly string[];
  /** Time between request and answer. */
  readonly latencyMs?: number;
  /** Of the request before compression; 20 MiB. */
  readonly maxBodyBytes?: number;
  readonly faults?: Faults;
  /** Called when it begins to hang or to trickle. */
  readonly onSilence?: () => void;
}

/** Probabilities, from 0 to 1. Their sum stays below 1. */
export interface Faults {
  readonly seed: number;
  /** A 400 that no event has earned. */
  readonly badRequest?: number;
  /** A 413 that no size has earned. */
  readonly tooLarge?: number;
  /** 429, with Retry-After or without. */
  readonly tooMany?: number;
  /** 500, half of them after the events were stored. */
  readonly serverError?: number;
  /** Never an answer, half of them after the events were stored. */
  readonly hang?: number;
  /** Stored, and an answer that trickles for longer than anyone waits. */
  readonly slow?: number;
  /** The connection is reset, half of them after the events were stored. */
  readonly reset?: number;
  /** 200 with a page of HTML, as a proxy answers; nothing stored. */
  readonly page?: number;
}

type Fault = Exclude<keyof Faults, 'seed'>;

export interface StoredEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  readonly timestamp: string;
  readonly properties: Record<string, unknown>;
}

/** One request that reached the destination with events in it, whatever it was answered. */
export interface Arrival {
  readonly atMs: number;
  readonly events: number;
}

export interface StrictDestination {
  readonly url: string;
  /** What is stored, by uuid. */
  readonly events: () => Map<string, StoredEvent>;
  readonly arrivals: Arrival[];
  /** Every request, with its answer's status; 0 where there was none. */
  readonly requests: { status: number; events: number; bytes: number }[];
  /** Uuids that came again with another event, distinct_id or timestamp: they would be stored twice. */
  readonly conflicts: string[];
  /** Sets the time between request and answer. */
  readonly setLatency: (ms: number) => void;
  /** From here on batches in the form of the contract are answered so, and not stored; undefined ends it. */
  readonly overrule: (reply: Reply | ReplyTo | undefined) => void;
  readonly stop: () => Promise<void>;
}

/** The reply to a batch of so many events; undefined for that of the strict service. `text` is their JSON. */
export type ReplyTo = (events: number, text: string) => Reply | undefined | Promise<Reply | undefined>;

export interface Reply {
  readonly status: number;
  readonly body: string;
}

const DEFAULT_MAX_BODY_BYTES = 20 * 1024 * 1024;

export async function startStrictDestination(options: StrictDestinationOptions): Promise<StrictDestination> {
  const stored = new Map<string, StoredEvent>();
  const arrivals: Arrival[] = [];
  const requests: { status: number; events: number; bytes: number }[] = [];
  const conflicts: string[] = [];
  const drawFault = createFaults(options.faults);
  let overrule: ReplyTo = () => undefined;
  let { latencyMs = 0 } = options;

  function store(events: readonly StoredEvent[]): void {
    for (const event of events) {
      const known = stored.get(event.uuid);
      if (known && identity(known) !== identity(event)) conflicts.push(event.uuid);
      if (!known) stored.set(event.uuid, event);
    }
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const note = { status: 0, events: 0, bytes: 0 };
    requests.push(note);
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      note.status = status;
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    };
    const refuse = (status: number, code: string, detail: string) =>
      answer(status, { type: status === 401 ? 'authentication_error' : 'validation_error', code, detail });

    if (latencyMs > 0) await timer(latencyMs);
    if (request.method !== 'POST' || request.url !== '/batch/')
      return refuse(404, 'not_found', 'No such endpoint');

    const body = inflate(Buffer.concat(pieces));
    if (!body) return refuse(400, 'invalid_payload', 'Malformed request data: failed to decompress data');
    note.bytes = body.length;
    if (body.length > (options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES)) {
      return refuse(413, 'request_too_large', 'Request too large.');
    }
    const envelope = readEnvelope(body, [options.apiKey, ...(options.otherKeys ?? [])]);
    if (envelope.kind === 'refused') return refuse(envelope.status, envelope.code, envelope.detail);
    note.events = envelope.batch.length;
    arrivals.push({ atMs: performance.now(), events: envelope.batch.length });

    const overruling = await overrule(envelope.batch.length, JSON.stringify(envelope.batch));
    if (overruling) {
      note.status = overruling.status;
      response.writeHead(overruling.status).end(overruling.body);
      return;
    }
    const { fault, draw } = drawFault(envelope.batch);
    if (fault === 'badRequest') return refuse(400, 'invalid_payload', 'Invalid payload: try me');
    if (fault === 'tooLarge') return refuse(413, 'request_too_large', 'Request too large.');
    if (fault === 'tooMany')
      return answer(429, { detail: 'rate limited' }, draw < 0.5 ? { 'retry-after': '1' } : {});
    if (fault === 'page') {
      note.status = 200;
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<html><body>Please sign in</body></html>');
      return;
    }

    const events: StoredEvent[] = [];
    for (const item of envelope.batch) {
      const checked = checkEvent(item);
      if (typeof checked === 'string') return refuse(400, 'invalid_payload', `Invalid payload: ${checked}`);
      events.push(checked);
    }
    if (fault === undefined || fault === 'slow' || draw < 0.5) store(events);
    if (fault === 'serverError')
      return answer(500, { type: 'server_error', detail: 'Unable to store event.' });
    if (fault === 'reset') return void request.socket.resetAndDestroy();
    if (fault === 'hang') return options.onSilence?.();
    if (fault === 'slow') return trickle(response, options.onSilence);
    answer(200, { status: 1 });
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');

  return {
    url: `http://127.0.0.1:${address.port}`,
    events: () => stored,
    arrivals,
    requests,
    conflicts,
    setLatency(ms) {
      latencyMs = ms;
    },
    overrule(reply) {
      overrule = typeof reply === 'function' ? reply : () => reply;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The largest number of events that arrived in any window of this length, not in whole minutes alone. */
export function mostInAnyWindow(arrivals: readonly Arrival[], windowMs: number): number {
  const sorted = [...arrivals].sort((a, b) => a.atMs - b.atMs);
  let first = 0;
  let inside = 0;
  let most = 0;
  for (const arrival of sorted) {
    inside += arrival.events;
    for (let out = sorted[first]; out && out.atMs <= arrival.atMs - windowMs; out = sorted[first]) {
      inside -= out.events;
      first += 1;
    }
    most = Math.max(most, inside);
  }
  return most;
}

const identity = (event: StoredEvent) => JSON.stringify([event.event, event.distinctId, event.timestamp]);

/** A sender gives up an event that is refused alone three times, so a false refusal comes at most twice. */
const MOST_FALSE_REFUSALS = 2;

function createFaults(
  faults: Faults | undefined,
): (batch: readonly unknown[]) => { fault: Fault | undefined; draw: number } {
  if (!faults) return () => ({ fault: undefined, draw: 0 });
  const { seed, ...probabilities } = faults;
  const random = createRandom(seed);
  const falseRefusals = new Map<string, number>();

  function mayRefuse(batch: readonly unknown[]): boolean {
    if (batch.length > 1) return true;
    const event = JSON.stringify(batch);
    const count = (falseRefusals.get(event) ?? 0) + 1;
    falseRefusals.set(event, count);
    return count <= MOST_FALSE_REFUSALS;
  }

  return (batch) => {
    let left = random();
    const draw = random();
    for (const [name, probability] of Object.entries(probabilities)) {
      left -= probability;
      if (left >= 0) continue;
      const isRefusal = name === 'badRequest' || name === 'tooLarge';
      return { fault: isRefusal && !mayRefuse(batch) ? undefined : (name as Fault), draw };
    }
    return { fault: undefined, draw };
  };
}

function trickle(response: ServerResponse, begun: () => void = () => {}): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(' ', begun);
  const drip = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(drip));
}

function inflate(raw: Buffer): Buffer | undefined {
  if (raw[0] !== 0x1f || raw[1] !== 0x8b) return raw;
  try {
    return gunzipSync(raw);
  } catch {
    return undefined;
  }
}

type Envelope =
  | { kind: 'batch'; batch: unknown[] }
  | { kind: 'refused'; status: number; code: string; detail: string };

function readEnvelope(body: Buffer, apiKeys: readonly unknown[]): Envelope {
  const refused = (status: number, code: string, detail: string) =>
    ({ kind: 'refused', status, code, detail }) as const;
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return refused(400, 'invalid_payload', 'Malformed request data: Invalid JSON');
  }
  if (!isObject(parsed)) return refused(400, 'invalid_payload', 'Invalid payload: not an object');
  if (!('api_key' in parsed)) return refused(401, 'missing_api_key', 'API key not provided.');
  if (!apiKeys.includes(parsed['api_key']))
    return refused(401, 'invalid_api_key', 'Project API key invalid.');
  if (parsed['historical_migration'] !== true) {
    return refused(400, 'invalid_payload', 'Invalid payload: historical_migration must be true');
  }
  const unknown = Object.keys(parsed).filter((key) => !/^(api_key|historical_migration|batch)$/.test(key));
  if (unknown.length > 0)
    return refused(400, 'invalid_payload', `Invalid payload: unexpected ${unknown.join()}`);
  const batch = parsed['batch'];
  if (!Array.isArray(batch) || batch.length === 0) {
    return refused(400, 'invalid_payload', 'Invalid payload: request holds no event');
  }
  return { kind: 'batch', batch };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** The event as stored, or what is wrong with it. */
function checkEvent(item: unknown): StoredEvent | string {
  if (!isObject(item)) return 'every event must be an object';
  const { event, uuid, timestamp, properties } = item;
  for (const name of ['sent_at', 'offset', '_']) {
    if (name in item) return `"${name}" would move the event's time`;
  }
  if (typeof event !== 'string') return 'All events must have the event name field "event"!';
  if (event.trim() === '' || event.length > 200) return 'Event field "event" must have 1 to 200 characters!';
  if (!isObject(properties)) return 'Event field "properties" must be an object!';
  const distinctId = item['distinct_id'] ?? properties['distinct_id'];
  if (distinctId === undefined) return 'All events must have the event field "distinct_id"!';
  if (typeof distinctId !== 'string' || distinctId.trim() === '' || distinctId.length > 200) {
    return 'Event field "distinct_id" should not be blank!';
  }
  if (typeof uuid !== 'string' || !UUID.test(uuid)) return 'Event field "uuid" is not a valid UUID!';
  if (typeof timestamp !== 'string' || !ISO_UTC.test(timestamp) || Number.isNaN(Date.parse(timestamp))) {
    return 'Event field "timestamp" is not a valid ISO 8601 time!';
  }
  for (const name of ['$set', '$set_once']) {
    if (name in properties && !isObject(properties[name])) return `"${name}" must be an object!`;
  }
  return { uuid, event, distinctId, timestamp, properties };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

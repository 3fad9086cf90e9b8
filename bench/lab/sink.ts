import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/**
 * `sink <folder>`: a destination that accepts everything. It only stores the bodies while a contender runs, so
 * that it takes little from the machine, and parses and counts them afterwards, when asked.
 * `POST /reset?latency=60` begins again, with so many milliseconds before each response; `GET /arrived` counts.
 * It ends when its standard input closes, so that it never outlives its parent.
 */
export interface Arrived {
  readonly requests: number;
  readonly events: number;
  /** Events with different uuids; of Mixpanel's, with different `$insert_id`. */
  readonly distinct: number;
}

interface StoredBody {
  readonly position: number;
  readonly bytes: number;
  readonly gzip: boolean;
}

const [folder = ''] = process.argv.slice(2);
const path = join(folder, 'sink.bodies');
const file = openSync(path, 'w+');
let bodies: StoredBody[] = [];
let end = 0;
let latencyMs = 0;

const ANSWERS: Readonly<Record<string, string>> = {
  '/import': '{"code":200,"num_records_imported":0,"status":"OK"}',
};

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sink');
  if (pathname === '/arrived') return void response.end(JSON.stringify(countArrived()));
  if (pathname === '/reset') {
    bodies = [];
    end = 0;
    latencyMs = Number(searchParams.get('latency') ?? 0);
    return void response.end();
  }
  const body = await buffer(request);
  store(request, body);
  const answer = () =>
    response.setHeader('content-type', 'application/json').end(ANSWERS[pathname] ?? '{"status":1}');
  if (latencyMs > 0) setTimeout(answer, latencyMs);
  else answer();
});

function store(request: IncomingMessage, body: Buffer): void {
  writeSync(file, body, 0, body.length, end);
  bodies.push({
    position: end,
    bytes: body.length,
    gzip: request.headers['content-encoding'] === 'gzip',
  });
  end += body.length;
}

function countArrived(): Arrived {
  const distinct = new Set<number>();
  let events = 0;
  for (const { position, bytes, gzip } of bodies) {
    const body = Buffer.allocUnsafe(bytes);
    readSync(file, body, 0, bytes, position);
    // Clients that say nothing in a header have the gzip magic at the start.
    const packed = gzip || (body[0] === 0x1f && body[1] === 0x8b);
    for (const event of parseEvents((packed ? gunzipSync(body) : body).toString('utf8'))) {
      events += 1;
      distinct.add(hashId(event));
    }
  }
  return { requests: bodies.length, events, distinct: distinct.size };
}

interface ArrivedEvent {
  readonly uuid?: string;
  readonly properties?: { readonly $insert_id?: string };
}

function parseEvents(text: string): readonly ArrivedEvent[] {
  const document = JSON.parse(text) as readonly ArrivedEvent[] | { readonly batch?: readonly ArrivedEvent[] };
  if (Array.isArray(document)) return document;
  return 'batch' in document && document.batch !== undefined ? document.batch : [document as ArrivedEvent];
}

/** 48 bits: among ten million ids, one pair in six runs looks alike by chance. */
function hashId({ uuid, properties }: ArrivedEvent): number {
  const id = uuid ?? properties?.$insert_id;
  if (id === undefined) return Math.random();
  return createHash('sha1').update(id).digest().readUIntBE(0, 6);
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
process.stdin.resume().once('end', () => {
  server.close();
  server.closeAllConnections();
  closeSync(file);
  rmSync(path, { force: true });
});

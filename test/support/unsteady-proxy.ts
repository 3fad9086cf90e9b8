import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** How a proxy treats each request: as if it were not there, or as a server in trouble does. */
export type Mood = 'steady' | 'unavailable' | 'resets' | 'cuts' | 'hangs' | 'trickles';

/** A proxy in front of an HTTP server, which fails on request the ways that networks and servers do. */
export interface UnsteadyProxy {
  readonly url: string;
  setMood(mood: Mood): void;
  /** Requests that it left without an answer, or answers with a byte now and then. */
  heldUp(): number;
  stop(): Promise<void>;
}

/** Bytes of a response that arrive before it is cut off. */
const CUT_AFTER_BYTES = 200;
/** Far less than anybody waits for, and too often for a connection to count as idle. */
const TRICKLE_EVERY_MS = 250;

/** Passes the Host header on as it came: S3 clients sign it. */
export async function startUnsteadyProxy(target: string): Promise<UnsteadyProxy> {
  const { hostname, port } = new URL(target);
  let mood: Mood = 'steady';
  let heldUp = 0;

  function handle(request: IncomingMessage, response: ServerResponse): void {
    if (mood === 'resets') return void request.socket.resetAndDestroy();
    if (mood === 'unavailable') {
      request.resume();
      response.writeHead(503, { 'content-type': 'application/xml' });
      response.end('<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>');
      return;
    }
    if (mood === 'hangs') {
      heldUp += 1;
      request.resume();
      return;
    }
    const cut = mood === 'cuts';
    const trickle = mood === 'trickles' && request.method === 'GET';
    const { method, url, headers } = request;
    const onward = send({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (trickle) {
        heldUp += 1;
        return void trickleInto(response, answer);
      }
      if (!cut) return void answer.pipe(response);
      let passed = 0;
      answer.on('data', (piece: Buffer) => {
        response.write(piece.subarray(0, CUT_AFTER_BYTES - passed));
        passed += piece.length;
        if (passed >= CUT_AFTER_BYTES) request.socket.resetAndDestroy();
      });
      answer.on('end', () => response.end());
    });
    onward.on('error', () => request.socket.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  }

  const server = createServer(handle);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy has no address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    setMood(next) {
      mood = next;
    },
    heldUp: () => heldUp,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function trickleInto(response: ServerResponse, answer: IncomingMessage): Promise<void> {
  for await (const piece of answer) {
    for (const byte of piece as Buffer) {
      if (response.destroyed) return;
      response.write(Buffer.of(byte));
      await pause(TRICKLE_EVERY_MS);
    }
  }
  response.end();
}

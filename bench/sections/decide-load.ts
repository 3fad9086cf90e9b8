import { connect, type Socket } from 'node:net';

export interface DecideLoad {
  readonly requests: number;
  readonly clients: number;
  /** Requests a second, spread evenly; undefined: each client asks again once it is answered. */
  readonly rate?: number;
  /** @default '/decide?v=3' */
  readonly path?: string;
  /** Whether each request differs from all before, in a field that does not matter. @default false */
  readonly fresh?: boolean;
}

export interface LoadResult {
  readonly perSecond: number;
  /** Milliseconds from when a request was due to the end of its answer, in order. */
  readonly latencies: readonly number[];
  /** Answers other than 200. */
  readonly failed: number;
}

/** Asks over plain sockets, because a client of HTTP costs more than the answer. */
export async function askForDecisions(
  url: string,
  projectKey: string,
  persons: number,
  { requests, clients, rate, path = '/decide?v=3', fresh = false }: DecideLoad,
): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const startedMs = performance.now();
  const latencies: number[] = [];
  let failed = 0;
  let next = 0;

  async function work(): Promise<void> {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    while (next < requests) {
      const index = next;
      next += 1;
      const dueMs = rate === undefined ? performance.now() : startedMs + (index * 1000) / rate;
      const early = dueMs - performance.now();
      if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
      const answer = await ask(
        socket,
        toRequest(path, projectKey, `person ${index % persons}`, fresh ? { n: startedMs + index } : {}),
      );
      latencies.push(performance.now() - dueMs);
      if (!answer.startsWith('HTTP/1.1 200')) failed += 1;
    }
    socket.destroy();
  }

  await Promise.all(Array.from({ length: clients }, work));
  const seconds = (performance.now() - startedMs) / 1000;
  return { perSecond: requests / seconds, latencies: latencies.sort((a, b) => a - b), failed };
}

function toRequest(path: string, projectKey: string, distinctId: string, more: object): string {
  const body = JSON.stringify({ api_key: projectKey, distinct_id: distinctId, ...more });
  return [
    `POST ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    'content-type: application/json',
    `content-length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

/** The head of the answer, once its body is there. */
function ask(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
      const isWhole = Number.isNaN(length) ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + length;
      if (!isWhole) return;
      socket.off('data', onData);
      socket.off('error', reject);
      resolve(text.slice(0, end));
    };
    socket.on('data', onData);
    socket.once('error', reject);
    socket.write(request, 'latin1');
  });
}

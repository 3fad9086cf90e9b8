import type { AddressInfo } from 'node:net';
import { type HttpBindings, serve } from '@hono/node-server';
import type { Db } from '../../src/server/database/db.ts';
import { createTestApi, type TestApi } from './api.ts';

/** What the connection does to one request instead of handing it to the API and the answer back. */
export type Fault =
  /** Answers 500; the API never sees the request. */
  | 'error'
  /** Breaks the connection; the API never sees the request. */
  | 'cut'
  /** Breaks the connection once the API is done: stored, but the client does not know. */
  | 'lost answer';

export interface ListeningApi extends TestApi {
  readonly url: string;
  readonly port: number;
  /** What the next requests meet, one each. */
  readonly faults: Fault[];
  /** Status of every answer that the API gave, in order. */
  readonly statuses: number[];
  close(): Promise<void>;
}

/**
 * The real API on a port of the loopback address, behind a connection that can break. A request that has
 * not arrived whole after `requestTimeoutMs` is cut off.
 */
export async function listenApi(db: Db, requestTimeoutMs = 60_000): Promise<ListeningApi> {
  const api = await createTestApi(db);
  const faults: Fault[] = [];
  const statuses: number[] = [];

  async function answer(request: Request, bindings: HttpBindings): Promise<Response> {
    const fault = faults.shift();
    if (fault === 'error') return new Response('{}', { status: 500 });
    if (fault === 'cut') bindings.incoming.socket.destroy();
    const response =
      fault === 'cut' ? new Response(null, { status: 200 }) : await api.app.fetch(request, bindings);
    if (fault !== 'cut') statuses.push(response.status);
    if (fault === 'lost answer') bindings.incoming.socket.destroy();
    return response;
  }

  const server = serve({
    fetch: (request, bindings) => answer(request, bindings as HttpBindings),
    hostname: '127.0.0.1',
    port: 0,
    serverOptions: {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 100,
    },
  });
  await new Promise<void>((resolve) => server.once('listening', () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    ...api,
    url: `http://127.0.0.1:${port}`,
    port,
    faults,
    statuses,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

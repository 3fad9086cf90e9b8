import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const unzip = promisify(gunzip);

/** A destination for much: looks at the envelope, counts the events, remembers none. */
export interface CountingSink {
  readonly url: string;
  readonly events: () => number;
  stop(): Promise<void>;
}

export async function startCountingSink(apiKey: string): Promise<CountingSink> {
  let events = 0;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = JSON.parse((await unzip(Buffer.concat(pieces))).toString('utf8')) as {
      api_key?: string;
      historical_migration?: boolean;
      batch?: unknown[];
    };
    const valid = body.api_key === apiKey && body.historical_migration === true && Array.isArray(body.batch);
    if (valid) events += body.batch?.length ?? 0;
    response
      .writeHead(valid ? 200 : 400, { 'content-type': 'application/json' })
      .end(valid ? '{"status":1}' : '{"detail":"not an envelope"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    events: () => events,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

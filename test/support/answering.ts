import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** A server on a free port that answers as it is told to. */
export async function startResponder(
  listener: RequestListener,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

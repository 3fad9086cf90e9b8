import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/**
 * A destination that takes everything and counts it. `POST /batch/` as in the contract; `GET /` tells
 * how many events arrived since it was last asked. Ends with its standard input, so it never outlives
 * who started it.
 */
let arrived = 0;

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ arrived }));
    arrived = 0;
    return;
  }
  const body = await buffer(request);
  response.setHeader('content-type', 'application/json').end('{"status":1}');
  arrived += countEvents(request, body);
});

function countEvents(request: IncomingMessage, body: Buffer): number {
  const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
  const { batch }: { batch: readonly unknown[] } = JSON.parse(plain.toString('utf8'));
  return batch.length;
}

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
process.stdin.resume().once('end', () => {
  server.close();
  server.closeAllConnections();
});

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';

/**
 * A destination that accepts everything and counts it. `POST /batch/` is the ingestion endpoint; `GET /`
 * returns how many events arrived since the last `GET /`. It ends when its standard input closes, so that it
 * never outlives its parent.
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

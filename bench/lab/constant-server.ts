import { serve } from '@hono/node-server';
import { Hono } from 'hono';

/** A handler of the same framework that returns a constant: the most that any endpoint could answer. */
const app = new Hono();
app.post('/decide', (c) => c.json({ featureFlags: {}, featureFlagPayloads: {}, errorComputingFlags: false }));
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
process.stdin.resume().once('end', () => {
  server.close();
  process.exit(0);
});

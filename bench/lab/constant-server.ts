import { serve } from '@hono/node-server';
import { Hono } from 'hono';

/**
 * Handlers of the same framework that return a constant: the most that any endpoint could answer. One reads the
 * body, as every endpoint must that is asked something; the other leaves it unread.
 */
const app = new Hono();
const answer = { featureFlags: {}, featureFlagPayloads: {}, errorComputingFlags: false };
app.post('/decide', async (c) => {
  await c.req.arrayBuffer();
  return c.json(answer);
});
app.post('/unread', (c) => c.json(answer));
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => {
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
process.stdin.resume().once('end', () => {
  server.close();
  process.exit(0);
});

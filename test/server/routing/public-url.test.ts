import { Hono } from 'hono';
import { expect, test } from 'vitest';
import type { ApiEnv } from '../../../src/server/auth/access.ts';
import { getPublicUrl, publicAddress } from '../../../src/server/routing/public-url.ts';

async function askAt(publicUrl: string | undefined): Promise<string> {
  const app = new Hono<ApiEnv>();
  app.use(publicAddress(publicUrl));
  app.get('/api/x/', (c) => c.text(getPublicUrl(c)));
  return (await app.request('http://10.0.0.7:8010/api/x/?a=%26&b=1')).text();
}

test('links lead to where the request came in, or to where clients reach the API', async () => {
  expect(await askAt(undefined)).toBe('http://10.0.0.7:8010/api/x/?a=%26&b=1');
  expect(await askAt('https://events.example.com')).toBe('https://events.example.com/api/x/?a=%26&b=1');
  expect(await askAt('https://example.com/events')).toBe('https://example.com/events/api/x/?a=%26&b=1');
});

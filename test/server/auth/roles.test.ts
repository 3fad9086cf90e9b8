import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { admit } from '../../../src/server/auth/roles.ts';

const credentials = { user: 'ada', password: 'look', adminPassword: 'act' };
const app = new Hono().all('/jobs', (c) => {
  const role = admit(c, credentials);
  return role instanceof Response ? role : c.text(role);
});
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

async function send(method: string, headers: Record<string, string>): Promise<[number, string]> {
  const response = await app.request('http://127.0.0.1:8000/jobs', { method, headers });
  return [response.status, await response.text()];
}

describe('routes of others admit', () => {
  it.each([
    [basic('ada:look'), [200, 'viewer']],
    [basic('ada:act'), [200, 'operator']],
    [basic('eve:act'), [401, 'User and password are asked for.\n']],
    [basic('ada:'), [401, 'User and password are asked for.\n']],
    ['Bearer act', [401, 'User and password are asked for.\n']],
  ])('%s: %j', async (authorization, expected) => {
    expect(await send('GET', { authorization })).toEqual(expected);
  });

  it('nobody without credentials, even where they are empty', async () => {
    expect((await send('GET', {}))[0]).toBe(401);
    const open = new Hono().get('/', (c) => {
      const role = admit(c, { user: 'ada', password: 'look' });
      return role instanceof Response ? role : c.text(role);
    });
    const response = await open.request('/', { headers: { authorization: basic('ada:undefined') } });
    expect(response.status).toBe(401);
  });

  it.each([
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'http://127.0.0.1:8000', host: '127.0.0.1:8000' }, 200],
    [{ origin: 'http://127.0.0.1:8001', host: '127.0.0.1:8000' }, 403],
    [{ origin: 'null', host: '127.0.0.1:8000' }, 403],
    [{}, 200], // no browser
  ])('acts of pages of their own only: %j', async (headers, status) => {
    const all = { authorization: basic('ada:act'), ...headers } as Record<string, string>;
    expect((await send('PUT', all))[0]).toBe(status);
    expect((await send('GET', all))[0]).toBe(200);
  });
});

import lzString from 'lz-string';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTestApi, gzipped, type TestApi } from '../../../support/api.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { refused } from '../../capture/hostile-bodies.ts';
import { addFlag } from '../flag-lab.ts';

const ORIGIN = { origin: 'https://shop.example' };

onEveryDatabase('clients of /decide', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db());
    await addFlag(db(), api.project.id, 'a', { groups: [{}] });
  });

  const body = () => ({ token: api.project.projectKey, distinct_id: 'ada' });
  const text = () => JSON.stringify(body());
  const base64 = () => Buffer.from(text()).toString('base64');
  const form = { 'content-type': 'application/x-www-form-urlencoded' };

  test.each<[what: string, query: string, pack: () => string | Buffer, headers: Record<string, string>]>([
    ['JSON', '', text, {}],
    ['JSON without a type', '', text, { 'content-type': '' }],
    ['a beacon', '', text, { 'content-type': 'text/plain;charset=UTF-8' }],
    ['a form with base64', '', () => `data=${encodeURIComponent(base64())}`, form],
    [
      'a form whose query says base64',
      '&compression=base64',
      () => `data=${encodeURIComponent(base64())}`,
      form,
    ],
    ['gzip', '&compression=gzip-js', () => gzipped(body()), { 'content-type': 'text/plain' }],
    ['gzip that nobody names', '', () => gzipped(body()), {}],
    ['lz64', '&compression=lz64', () => lzString.compressToBase64(text()), {}],
    ['a list', '', () => JSON.stringify([body()]), {}],
    ['more parameters', '&ip=1&_=1700000000000&ver=1.150.1', text, {}],
  ])('may send %s', async (_, query, pack, headers) => {
    for (const path of ['/decide/', '/decide']) {
      const response = await api.post(`${path}?v=3${query}`, pack(), { ...ORIGIN, ...headers });
      expect(await response.json()).toMatchObject({ featureFlags: { a: true } });
      expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN.origin);
    }
  });

  test.each([
    ['', { featureFlags: ['a'] }],
    ['?v=1', { featureFlags: ['a'] }],
    ['?v=2', { featureFlags: { a: true } }],
    ['?v=1.19.0', { featureFlags: { a: true } }],
    ['?v=3', { featureFlags: { a: true }, featureFlagPayloads: {} }],
    ['?v=4', { flags: { a: { enabled: true } } }],
    ['?v=99', { flags: { a: { enabled: true } } }],
  ])('get the shape of %j', async (query, shape) => {
    expect(await (await api.post(`/decide/${query}`, body())).json()).toMatchObject(shape);
  });

  test('of the newer kind ask elsewhere', async () => {
    expect(await (await api.post('/flags/?v=2', body())).json()).toMatchObject({
      flags: { a: { enabled: true } },
    });
    const config = await api.app.request(`/array/${api.project.projectKey}/config`, { headers: ORIGIN });
    expect(await config.json()).toMatchObject({ hasFeatureFlags: true, token: api.project.projectKey });
    const script = await api.app.request(`/array/${api.project.projectKey}/config.js`, { headers: ORIGIN });
    expect(await script.text()).toContain('_POSTHOG_REMOTE_CONFIG');
    expect((await api.app.request('/array/phc_none/config', { headers: ORIGIN })).status).toBe(401);
  });

  test('may want no flags, with a key that is known', async () => {
    const answer = await api.post('/decide/?v=3', { ...body(), disable_flags: true });
    expect(await answer.json()).toMatchObject({ featureFlags: {}, errorComputingFlags: false });
    expect((await api.post('/decide/?v=3', { token: 'phc_none', disable_flags: true })).status).toBe(401);
    expect((await api.app.request('/decide/')).status).toBe(200);
  });

  test('may ask for some flags alone', async () => {
    const asked = { ...body(), flag_keys_to_evaluate: ['b'] };
    expect(await (await api.post('/decide/?v=3', asked)).json()).toMatchObject({ featureFlags: {} });
  });

  test('learn from a preflight that they may ask', async () => {
    const headers = {
      ...ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'traceparent',
    };
    for (const path of ['/decide/', '/flags/', `/array/${api.project.projectKey}/config`]) {
      const response = await api.app.request(path, { method: 'OPTIONS', headers });
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('access-control-allow-headers')).toBe('traceparent');
    }
  });

  describe('are refused for', () => {
    test.each(refused)('%s', async (_, status, send) => {
      const sent = send(api.project.projectKey);
      const response = await api.post(`/decide/?v=3&${sent.query ?? ''}`, sent.body, {
        ...ORIGIN,
        ...sent.headers,
      });
      // An event without its properties is still about somebody.
      expect([200, status, 400, 401]).toContain(response.status);
      expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN.origin);
      expect((await api.post('/decide/?v=3', body())).status).toBe(200);
    });
  });
});

import { expect, test } from 'vitest';
import { createLogger } from '../../../src/lib/logger.ts';
import { buildApi } from '../../../src/server/app.ts';
import type { Db } from '../../../src/server/database/db.ts';
import { createSerialDb } from '../../../src/server/database/pglite.ts';
import { openPgliteSession } from '../../../src/server/database/pglite-session.ts';
import { createPoolDb } from '../../../src/server/database/pool.ts';
import { silent } from '../../support/databases.ts';
import { readEmptyPglite } from '../../support/empty-pglite.ts';

test('a database that is away is a 503 that asks to come again', async () => {
  const db = createPoolDb('postgresql://nobody@127.0.0.1:1/none', silent); // port 1 refuses
  const app = buildApi({ db, log: silent });
  const body = JSON.stringify({ api_key: 'phc_x', event: 'e', distinct_id: 'd' });
  for (const response of [
    await app.request('/batch/', { method: 'POST', body }),
    await app.request('/api/projects/', { headers: { authorization: 'Bearer phx_x' } }),
    await app.request('/healthz'),
  ]) {
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await response.json()).toMatchObject({ type: 'server_error', code: 'server_error' });
  }
  await db.close();
});

test.each(['28P01', '28000', '3D000', '42501', 'CERT_HAS_EXPIRED'])(
  'a database that refuses the API (%s) is one that is away, and logged without a stack',
  async (code) => {
    const refuse = () => Promise.reject(Object.assign(new Error('refused'), { code }));
    const db: Db = {
      kind: 'postgres',
      ...{ query: refuse, transaction: refuse, watch: () => undefined, close: async () => {} },
    };
    const lines: string[] = [];
    const app = buildApi({ db, log: createLogger('error', { write: (line) => void lines.push(line) }) });
    const response = await app.request('/api/projects/', { headers: { authorization: 'Bearer phx_x' } });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ reason: 'refused' })]);
  },
);

test('a fault of ours is a 500 that tells the client nothing', async () => {
  const initial = await readEmptyPglite();
  const db = createSerialDb(() => openPgliteSession(undefined, initial)); // no tables: every query is a bug
  const app = buildApi({ db, log: silent });
  const response = await app.request('/api/projects/', { headers: { authorization: 'Bearer phx_x' } });
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({
    type: 'server_error',
    code: 'error',
    detail: 'A server error occurred.',
    attr: null,
  });
  await db.close();
});

test('a failure on a public page is logged without the page’s address', async () => {
  const db = createPoolDb('postgresql://nobody@127.0.0.1:1/none', silent); // port 1 refuses
  const lines: string[] = [];
  const app = buildApi({ db, log: createLogger('error', { write: (line) => void lines.push(line) }) });
  const token = 'a-token-of-thirty-characters-x';
  for (const path of [`/shared/${token}`, `/embedded/${token}.json`]) {
    expect((await app.request(path)).status).toBe(503);
  }
  expect(lines).toHaveLength(2);
  expect(lines.join('')).toContain('/shared/[redacted]');
  expect(lines.join('')).not.toContain(token);
  await db.close();
});

import { expect, test } from 'vitest';
import { loadPersonalKey, savePersonalKey } from '../../../src/server/auth/keys.ts';
import { ensureProject } from '../../../src/server/auth/projects.ts';
import { grants, isScope, SCOPES, unknownScope } from '../../../src/server/auth/scopes.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { createPersonalKey } from '../../support/keys.ts';

onEveryDatabase('keys and projects', (db) => {
  test('only the hash of a personal key is stored, and a revoked one is no key any more', async () => {
    const token = await createPersonalKey(db(), { label: 'secret', scopes: ['*'] });
    expect(token).toMatch(/^phx_[0-9A-Za-z]{40,43}$/);
    expect(JSON.stringify(await db().query('select * from personal_api_keys'))).not.toContain(token.slice(4));
    expect(await loadPersonalKey(db(), token)).toMatchObject({
      label: 'secret',
      scopes: ['*'],
      projectIds: null,
    });
    await db().query(`update personal_api_keys set revoked_at = now() where label = 'secret'`);
    expect(await loadPersonalKey(db(), token)).toBeUndefined();
  });

  test('the last use of a key is kept to the hour', async () => {
    const token = await createPersonalKey(db(), { label: 'used', scopes: [] });
    const lastUsed = async () => {
      const [row] = await db().query<{ at: string | null }>(
        `select last_used_at as at from personal_api_keys where label = 'used'`,
      );
      return row?.at;
    };
    expect(await lastUsed()).toBeNull();
    await loadPersonalKey(db(), token);
    const first = await lastUsed();
    expect(first).toMatch(/Z$/);
    await loadPersonalKey(db(), token);
    expect(await lastUsed()).toBe(first);
    await db().query(
      `update personal_api_keys set last_used_at = now() - interval '61 minutes' where label = 'used'`,
    );
    const before = await lastUsed();
    await loadPersonalKey(db(), token);
    expect(await lastUsed()).not.toBe(before);
  });

  test('keys and projects that exist already are left as they are, and a revoked key stays revoked', async () => {
    const first = await ensureProject(db(), { name: 'one', projectKey: 'phc_same' });
    expect(await ensureProject(db(), { name: 'two', projectKey: 'phc_same' })).toEqual(first);
    const same = { label: 'a', scopes: ['person:read'] } as const;
    expect(await savePersonalKey(db(), 'phx_same', same)).toEqual(expect.any(Number));
    expect(await savePersonalKey(db(), 'phx_same', { label: 'b', scopes: ['*'] })).toBeUndefined();
    expect(await loadPersonalKey(db(), 'phx_same')).toMatchObject(same);
    await db().query(`update personal_api_keys set revoked_at = now() where label = 'a'`);
    await savePersonalKey(db(), 'phx_same', same);
    expect(await loadPersonalKey(db(), 'phx_same')).toBeUndefined();
  });
});

test.each([
  [['person:read'], true],
  [['person:write'], true],
  [['*'], true],
  [['dashboard:read', 'person:readx'], false],
  [['dashboard:write'], false],
  [[], false],
])('a key with %j may read persons: %s', (scopes, expected) => {
  expect(grants(scopes, 'person:read')).toBe(expected);
});

test('reading is not writing, and every scope together is not everything', () => {
  expect(grants(['person:read'], 'person:write')).toBe(false);
  expect(
    grants(
      SCOPES.filter((scope) => scope !== '*'),
      '*',
    ),
  ).toBe(false);
});

test.each([
  ['Person:Read', 'There is no scope "Person:Read"; did you mean "person:read"?'],
  ['event_defintion:read', 'There is no scope "event_defintion:read"; did you mean "event_definition:read"?'],
  ['?', 'There is no scope "?"; the scopes are dashboard:read'],
  ['x'.repeat(500), `There is no scope "${'x'.repeat(60)}"; the scopes are`],
])('a scope that is none is told with what was meant: %s', (written, message) => {
  expect(isScope(written)).toBe(false);
  expect(unknownScope(written)).toContain(message);
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { findKindOfSource, getKind, isInsightName } from '../../../src/server/insights/registry.ts';

const room = resolve(import.meta.dirname, '../../../src/server/insights');

it('has every folder of a kind, and no other place lists them', () => {
  const folders = readdirSync(room).filter((name) => existsSync(join(room, name, 'index.ts')));
  const registry = readFileSync(join(room, 'registry.ts'), 'utf8');
  const registered = [...registry.matchAll(/from '\.\/(\w+)\/index\.ts'/g)].map(([, name]) => name);
  expect(new Set(registered)).toEqual(new Set(folders));
  const shared = readdirSync(room).filter((name) => name.endsWith('.ts') && name !== 'registry.ts');
  const naming = shared.filter((name) =>
    /\b(?:FUNNELS|LIFECYCLE|PATHS|RETENTION|STICKINESS)\b/.test(readFileSync(join(room, name), 'utf8')),
  );
  expect(naming).toEqual([]);
});

it('finds a kind by its name in filters and by that of its newer query', () => {
  expect(getKind('FUNNELS').name).toBe('FUNNELS');
  expect(findKindOfSource('FunnelsQuery')?.name).toBe('FUNNELS');
  expect(findKindOfSource('HogQLQuery')).toBeUndefined();
  expect(['TRENDS', 'trends', 'toString', ''].map(isInsightName)).toEqual([true, false, false, false]);
});

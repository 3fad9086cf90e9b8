import { expect, test } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { manifestIdentity } from '../../../config/manifest/manifest-identity.ts';
import { createMigrationStamp } from '../../../src/migrations/manifest/stamps.ts';

const parse = (stamps?: unknown) =>
  manifestSchema.parse({
    name: 'a',
    source: { type: 'amplitude', from: 'x' },
    ...(stamps === undefined ? {} : { stamps }),
  });
const properties = (stamps?: unknown, more: { replays?: string; stampedAs?: string } = {}) =>
  createMigrationStamp({ name: 'a', identity: manifestIdentity(parse(stamps)).identity, ...more })
    ?.properties;

test('name the migration and the source, under names of the manifest', () => {
  expect(properties()).toEqual({ $import_job_id: 'a', analytics_source: 'amplitude' });
  expect(properties({ importId: 'job', source: false })).toEqual({ job: 'a' });
  expect(properties({ importId: false, source: false })).toBeUndefined();
});

test('of a replay name the migration whose rejects it sends', () => {
  expect(properties(undefined, { replays: 'shop' })).toMatchObject({ $import_job_id: 'shop' });
  const again = { replays: 'shop.replay-1', stampedAs: 'shop' };
  expect(properties(undefined, again)).toMatchObject({ $import_job_id: 'shop' });
});

test('are none where an earlier version began the migration', () => {
  const { stamps: _, ...identity } = manifestIdentity(parse()).identity;
  expect(createMigrationStamp({ name: 'a', identity })).toBeUndefined();
});

test.each([
  [{ importId: 'x', source: 'x' }, /another name than stamps.importId/],
  [{ importId: 'distinct_id' }, /a meaning of its own/],
  [{ importId: '' }, /name of a property/],
  [{ source: 'a'.repeat(101) }, /name of a property/],
  [{ importId: true }, /name of a property/],
])('%j is refused', (stamps, message) => {
  expect(() => parse(stamps)).toThrow(message);
});

import { expect, test } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { manifestIdentity } from '../../../config/manifest/manifest-identity.ts';
import { createStamp } from '../../../src/deliver/stamp.ts';
import { createMigrationStamp, stampEvent } from '../../../src/migrations/manifest/stamps.ts';

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

test('leave what two imports before have stamped, in a plan as in a run', () => {
  const stamp = createStamp({ $import_job_id: 'third' }) ?? expect.fail('it has a name');
  const before = { distinct_id: 'ann', $import_job_id: 'second', source_$import_job_id: 'first' };
  const event = { event: 'a', uuid: 'u', timestamp: '2023-05-01T12:00:00.000Z', properties: before };
  expect(stampEvent(event, stamp).properties).toEqual({
    distinct_id: 'ann',
    $import_job_id: 'third',
    source_source_$import_job_id: 'second',
    source_$import_job_id: 'first',
  });
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

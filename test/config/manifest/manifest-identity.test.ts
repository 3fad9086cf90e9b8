import { expect, test } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { describeDifference, manifestIdentity } from '../../../config/manifest/manifest-identity.ts';

const written = {
  name: 'a',
  source: { type: 'amplitude', from: ['x', 'y'], timezone: 'UTC' },
  destination: { url: 'https://a.example.com/', apiKey: '${KEY}' },
};
const createIdentity = (more: Record<string, unknown> = {}) =>
  manifestIdentity(manifestSchema.parse({ ...written, ...more }));

test('key, limits, approval and threshold may change between run and resume', () => {
  const changed = createIdentity({
    destination: { url: 'https://a.example.com', apiKey: '${OTHER}' },
    limits: { eventsPerMinute: 50_000, batch: { bytes: '1MiB' } },
    approval: { reference: 'request 1', eventsPerMinute: 50_000 },
    rejects: { failAbove: '5%' },
  });
  expect(changed).toEqual(createIdentity());
  expect(describeDifference(createIdentity().identity, changed.identity)).toEqual([]);
});

test('the order of keys is no difference', () => {
  const reordered = createIdentity({ source: { timezone: 'UTC', from: ['x', 'y'], type: 'amplitude' } });
  expect(reordered.sha256).toBe(createIdentity().sha256);
});

test.each([
  [{ source: { ...written.source, from: ['x'] } }, 'source.from: was ["x","y"], is now ["x"]'],
  [
    { source: { ...written.source, timezone: 'Asia/Kolkata' } },
    'source.timezone: was "UTC", is now "Asia/Kolkata"',
  ],
  [{ source: { ...written.source, groupTypes: ['a'] } }, 'source.groupTypes: was not there, is now ["a"]'],
  [{ destination: undefined }, 'destination: was "https://a.example.com", is now "bundled"'],
  [
    { destination: { ...written.destination, project: 'b' } },
    'destination.project: was not there, is now "b"',
  ],
  [{ people: { overwrite: true } }, 'people.overwrite: was false, is now true'],
])('%j makes another migration, and the difference is named', (change, line) => {
  const { destination, ...rest } = { ...written, ...change };
  const now = manifestIdentity(manifestSchema.parse(destination ? { ...rest, destination } : rest));
  expect(now.sha256).not.toBe(createIdentity().sha256);
  expect(describeDifference(createIdentity().identity, now.identity)).toEqual([line]);
});

test('an identity read back from JSON is the same', () => {
  const { identity } = createIdentity();
  expect(describeDifference(JSON.parse(JSON.stringify(identity)), identity)).toEqual([]);
});

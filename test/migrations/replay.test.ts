import { expect, it } from 'vitest';
import { manifestSchema } from '../../config/manifest/manifest.ts';
import { createDerivedName } from '../../src/migrations/derived-name.ts';

it('names a replay after its migration', () => {
  expect(createDerivedName('shop', 'replay', 2)).toBe('shop.replay-2');
});

it.each([53, 54, 63])('makes a name that manifests take, of one with %i characters', (length) => {
  const name = createDerivedName('n'.repeat(length), 'replay', 1);
  expect(name.length).toBeLessThanOrEqual(63);
  expect(name.endsWith('.replay-1')).toBe(true);
  const manifest = { name, source: { type: 'amplitude', from: 'export.zip' } };
  expect(manifestSchema.safeParse(manifest).success).toBe(true);
});

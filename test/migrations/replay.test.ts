import { expect, it } from 'vitest';
import { manifestSchema } from '../../config/manifest/manifest.ts';
import { createDerivedName, isReplayNameOf } from '../../src/migrations/derived-name.ts';

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

it('recognises a replay by its name, also where that is cut, and no other migration', () => {
  const long = 'n'.repeat(63);
  expect(isReplayNameOf('shop.replay-12', 'shop')).toBe(true);
  expect(isReplayNameOf(createDerivedName(long, 'replay', 12), long)).toBe(true);
  expect(isReplayNameOf('shop.replay-1.replay-1', 'shop')).toBe(false);
  expect(isReplayNameOf('shop.replay-x', 'shop')).toBe(false);
  expect(isReplayNameOf('shopping.replay-1', 'shop')).toBe(false);
});

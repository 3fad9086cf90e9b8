import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyedHash } from '../../../src/state/ledger/keyed-hash.ts';
import { ILL_FORMED } from '../../support/ill-formed.ts';

const toDigest = (hash: Uint8Array) => Buffer.from(hash).toString('hex').slice(2);

describe.each([1, 2, 3, 4] as const)('hashes of form %i', (form) => {
  const hash = createKeyedHash('key', form);

  it('never change, as ledgers keep them', () => {
    for (const text of ['u-1', 'ü\u{1f680}', '\ufffd', '']) {
      const expected = createHash('sha256').update(`key\nid ${text}`, 'utf8').digest('hex');
      expect(toDigest(hash.id(text))).toBe(expected.slice(2, 24));
    }
  });

  it.each(['id', 'group', 'property'] as const)('%s: half a surrogate pair tells texts apart', (kind) => {
    const digests = ILL_FORMED.map((text) =>
      toDigest(kind === 'property' ? hash.property('2a'.repeat(12), 'set', text) : hash[kind](text)),
    );
    expect(new Set(digests).size).toBe(ILL_FORMED.length);
  });
});

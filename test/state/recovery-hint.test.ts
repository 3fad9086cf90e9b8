import { expect, test } from 'vitest';
import { ledgerLayout } from '../../src/state/keys/ledger.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { recoveryHint } from '../../src/state/recovery-hint.ts';

test('names all that a migration consists of, whichever object of it is at fault', () => {
  const keys = layout('shop.2024');
  const advice = `restore it, or remove both ${keys.prefix} and ${keys.record} and run the migration again (nothing is delivered twice)`;
  for (const key of [keys.record, keys.control(1), keys.resolved]) {
    expect(recoveryHint(key)).toBe(advice);
  }
});

test('of what a part left, which importing it makes again', () => {
  const { findings, rejectSegment, fingerprints, repeatsRejects, receipt } = layout('shop');
  const left = [findings, rejectSegment, fingerprints].map((toKey) => toKey('abc/00001/2-1-60'));
  for (const key of [receipt('abc/00001'), ...left])
    expect(recoveryHint(key)).toBe(
      'restore it, or remove shop/receipts/abc/00001.json and resume "shop": that part is imported again (nothing is delivered twice)',
    );
  expect(recoveryHint(repeatsRejects('0a1b', '00000', 'abc/00001'))).toContain('remove both shop/ and');
});

test('of a ledger, which the identity facts of migrations make again', () => {
  expect(recoveryHint(ledgerLayout('0a1b').version('ids', 7, 3))).toBe(
    'restore it; or remove this one object, and nothing else of the ledger, and resume: what is known of persons at this destination is then made again from the identity facts of all migrations',
  );
});

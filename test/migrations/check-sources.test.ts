import { describe, expect, it } from 'vitest';
import type { FileReceipt } from '../../src/contract/part.ts';
import type { Slice } from '../../src/contract/slice.ts';
import { checkSources } from '../../src/migrations/check-sources.ts';

const file = (name: string, bytes: number, modified: string): Slice => ({
  fileId: name,
  name,
  bytes,
  modified,
  location: 'producer',
});
const recorded = (name: string, bytes: number) => ({ fileId: name, name, bytes, modified: 'then' });
const staged = (name: string, bytes: number, sha256 = 'same'): [string, FileReceipt] => [
  name,
  { fileId: name, file: name, fingerprint: { bytes, modified: 'then', sha256 }, parts: 1, records: 1 },
];

const check = (known: ReturnType<typeof recorded>[], found: Slice[], receipts: [string, FileReceipt][]) =>
  checkSources(known, found, new Map(receipts), async () => 'same');

describe('what became of a source', () => {
  it('is nothing to speak of where files are as they were, touched, or gone after they were staged', async () => {
    const known = [recorded('a', 1), recorded('b', 2), recorded('c', 3)];
    const found = [file('a', 1, 'then'), file('b', 2, 'touched')];
    expect(await check(known, found, [staged('a', 1), staged('b', 2), staged('c', 3)])).toEqual([]);
  });

  it('is told of files that changed, went away too early, or came', async () => {
    const known = [recorded('a', 1), recorded('b', 2), recorded('c', 3)];
    const found = [file('a', 9, 'now'), file('b', 2, 'now'), file('d', 4, 'now')];
    expect(await check(known, found, [staged('a', 1), staged('b', 2, 'other')])).toEqual([
      'a had 1 bytes, it has 9 now',
      'b has other content than the one that was staged',
      'c is gone, and was not staged to its end',
      'd is new',
    ]);
  });

  it('accepts a broken file that was replaced before it was staged to its end', async () => {
    const known = [recorded('a', 1)];
    expect(await check(known, [file('a', 7, 'mended')], [])).toEqual([]);
    const receipt = staged('a', 7);
    expect(await check(known, [file('a', 7, 'then')], [receipt])).toEqual([]);
  });
});

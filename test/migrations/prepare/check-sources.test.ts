import { describe, expect, it } from 'vitest';
import type { FileReceipt } from '../../../src/contract/part.ts';
import type { Slice } from '../../../src/contract/slice.ts';
import { checkSources } from '../../../src/migrations/prepare/check-sources.ts';

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
const names = (files: readonly Slice[]) => files.map(({ name }) => name);

describe('what became of a source', () => {
  it('is nothing to speak of where files are as they were, touched, or gone after they were staged', async () => {
    const known = [recorded('a', 1), recorded('b', 2), recorded('c', 3)];
    const found = [file('a', 1, 'then'), file('b', 2, 'touched')];
    expect(await check(known, found, [staged('a', 1), staged('b', 2), staged('c', 3)])).toEqual({
      differences: [],
      known: found,
      added: [],
      lost: [],
    });
  });

  it('is told of files that changed, went away too early, or came', async () => {
    const known = [recorded('a', 1), recorded('b', 2), recorded('c', 3)];
    const found = [file('a', 9, 'now'), file('b', 2, 'now'), file('d', 4, 'now')];
    const changes = await check(known, found, [staged('a', 1), staged('b', 2, 'other')]);
    expect(changes.differences).toEqual([
      'a had 1 bytes, it has 9 now',
      'b has other content than the one that was staged',
    ]);
    expect(changes.lost).toEqual([recorded('c', 3)]);
    expect(names(changes.added)).toEqual(['d']);
  });

  it('accepts a broken file that was replaced before it was staged to its end', async () => {
    const known = [recorded('a', 1)];
    expect((await check(known, [file('a', 7, 'repaired')], [])).differences).toEqual([]);
    const receipt = staged('a', 7);
    expect((await check(known, [file('a', 7, 'then')], [receipt])).differences).toEqual([]);
  });

  it('knows a staged file under a new name by its content, and has no more to do with it', async () => {
    const changes = await check([recorded('a', 1)], [file('b', 1, 'now')], [staged('a', 1)]);
    expect(changes).toEqual({ differences: [], known: [], added: [], lost: [] });
    const other = await check([recorded('a', 1)], [file('b', 1, 'now')], [staged('a', 1, 'other')]);
    expect(names(other.added)).toEqual(['b']);
  });

  it('reads a file that was not staged under its new name, where size and time are those recorded', async () => {
    const changes = await check([recorded('a', 1)], [file('b', 1, 'then')], []);
    expect(changes).toEqual({ differences: [], known: [file('a', 1, 'then')], added: [], lost: [] });
    for (const other of [file('b', 2, 'then'), file('b', 1, 'now')]) {
      const { differences, added, lost } = await check([recorded('a', 1)], [other], []);
      expect([differences, names(added), lost]).toEqual([[], ['b'], [recorded('a', 1)]]);
    }
    const shared = { ...file('b', 1, 'then'), location: 'shared' as const };
    expect((await check([recorded('a', 1)], [shared], [])).lost).toHaveLength(1);
  });

  it('says what to do where files were rotated: each has the content of the one before it', async () => {
    const known = [recorded('log', 10), recorded('log.1', 20), recorded('other', 5)];
    const contents: Record<string, string> = { log: 'new', 'log.1': 'a', 'log.2': 'b', other: 'changed' };
    const found = [
      file('log', 7, 'now'),
      file('log.1', 10, 'now'),
      file('log.2', 20, 'now'),
      file('other', 6, 'now'),
    ];
    const receipts = new Map([staged('log', 10, 'a'), staged('log.1', 20, 'b'), staged('other', 5, 'c')]);
    const { differences } = await checkSources(
      known,
      found,
      receipts,
      async ({ name }) => contents[name] ?? '',
    );
    expect(differences).toEqual([
      'log had 10 bytes, it has 7 now: files were rotated, and what was staged is log.1 now. Give what is log now a name that it keeps, such as one with its date; log.1 is recognised by its content',
      'log.1 had 20 bytes, it has 10 now: files were rotated, and what was staged is log.2 now. Give what is log.1 now a name that it keeps, such as one with its date; log.2 is recognised by its content',
      'other had 5 bytes, it has 6 now',
    ]);
  });

  it('takes one new file for one that is gone, and not for two', async () => {
    const known = [recorded('a', 1), recorded('b', 1)];
    const changes = await check(known, [file('c', 1, 'now')], [staged('a', 1), staged('b', 1)]);
    expect(changes).toEqual({ differences: [], known: [], added: [], lost: [] });
    const two = await check([recorded('a', 1)], [file('c', 1, 'now'), file('d', 1, 'now')], [staged('a', 1)]);
    expect(names(two.added)).toEqual(['d']);
  });
});

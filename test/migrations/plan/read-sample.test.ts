import { expect, it } from 'vitest';
import { skipped } from '../../../src/contract/outcome.ts';
import { readSample } from '../../../src/migrations/plan/read-sample.ts';
import type { SourceSlice } from '../../../src/sources/source.ts';
import { memorySlice } from '../../sources/formats/memory-file.ts';

it('reads some files at once, as each may be a few requests, and keeps their order', async () => {
  let begun = 0;
  let most = 0;
  let go = () => {};
  const gone = new Promise<void>((resolve) => {
    go = resolve;
  });
  const slow = (name: string): SourceSlice => {
    const slice = memorySlice('{"a":1}\n', { name });
    return {
      ...slice,
      async *readRecords(onBytes) {
        begun += 1;
        most = Math.max(most, begun);
        setImmediate(go); // once all that begin together have begun
        await gone;
        yield* slice.readRecords(onBytes);
        begun -= 1;
      },
    };
  };
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const sample = await readSample(names.map(slow), () => skipped('feeds_people'), 10);
  expect(sample.map(({ file }) => file)).toEqual(names);
  expect(most).toBe(4);
});

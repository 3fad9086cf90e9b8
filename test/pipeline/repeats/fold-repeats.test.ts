import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RepeatFold } from '../../../src/pipeline/repeats/fold-repeats.ts';
import { type FingerprintRows, packRecord } from '../../../src/state/fingerprints.ts';

interface Part {
  readonly rows: readonly (readonly [key: number, content: number])[];
  /** Of another migration, which rejected its first record. */
  readonly isOther: boolean;
}

const toRows = ({ rows }: Part): FingerprintRows => ({
  words: Int32Array.from(rows.flatMap(([key, content], at) => [key, 0, 0, content, 0, packRecord(at, 0)])),
  runs: [{ day: '2024-01-01', rows: rows.length }],
});

async function find(fold: RepeatFold, parts: readonly Part[]) {
  const found: unknown[] = [];
  for (const [source, part] of parts.entries()) if (!part.isOther) fold.add(source, toRows(part));
  for (const [source, part] of parts.entries())
    if (part.isOther) await fold.addOthers(source, toRows(part), 'other', (record) => record === 0);
  await fold.fold({
    onDuplicate: (record) => found.push(['duplicate', record]),
    onCollision: (record, isElsewhere) => found.push(['collision', record, isElsewhere]),
    onStays: (record) => found.push(['stays', record]),
    onEvents: (events) => found.push(['events', events]),
  });
  return { found, rows: fold.rows };
}

const anyPart = fc.record({
  rows: fc.array(fc.tuple(fc.nat({ max: 20 }), fc.nat({ max: 2 })), { minLength: 1, maxLength: 30 }),
  isOther: fc.boolean(),
});
const anyRange = fc
  .array(anyPart, { minLength: 1, maxLength: 5 })
  .map((parts) => [{ ...parts[0], isOther: false } as Part, ...parts.slice(1)]);

it('finds in each range what a fold of its own finds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyRange, { minLength: 2, maxLength: 4 }), async (ranges) => {
      const used = new RepeatFold();
      for (const parts of ranges) {
        used.clear();
        expect(await find(used, parts)).toEqual(await find(new RepeatFold(), parts));
      }
    }),
  );
});

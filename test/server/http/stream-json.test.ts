import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { streamJson } from '../../../src/server/http/stream-json.ts';
import { countTicks } from '../../support/count-turns.ts';

async function piecesOf(document: unknown): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of streamJson(document)) pieces.push(piece);
  return pieces;
}

test('the pieces make the text that is written at once', async () => {
  const { document } = fc.letrec((tie) => ({
    document: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue({ maxDepth: 1 }),
      fc.constantFrom(undefined, new ExactNumber('1234567890123456789')),
      fc.array(tie('document'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('document'), { maxKeys: 4 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(document, async (value) => {
      expect((await piecesOf(value)).join('')).toBe(stringifyJson(value));
    }),
  );
});

test('a large document is written in pieces, and others have a turn between them', async () => {
  const series = Array.from({ length: 100 }, () => ({ data: Array.from({ length: 4000 }, () => 1) }));
  const { value: pieces, turns } = await countTicks(() => piecesOf({ series }));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(80_000);
  expect(pieces.length).toBeGreaterThan(10);
  expect(turns).toBeGreaterThanOrEqual(pieces.length - 1);
});

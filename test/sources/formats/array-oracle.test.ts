import { Readable } from 'node:stream';
import fc from 'fast-check';
import chain from 'stream-chain';
import { parser } from 'stream-json/parser.js';
import { streamArray } from 'stream-json/streamers/stream-array.js';
import { expect, it } from 'vitest';
import type { PartRecord } from '../../../src/contract/part.ts';
import { ValueSplitter } from '../../../src/sources/formats/split-values.ts';

/** What stream-json, a parser of the whole grammar, finds in an array. */
async function elementsByStreamJson(text: string, chunkBytes: number): Promise<unknown[]> {
  const found: unknown[] = [];
  const elements = chain([Readable.from(cutChunks(text, chunkBytes)), parser(), streamArray()]);
  for await (const { value } of elements as AsyncIterable<{ value: unknown }>) found.push(value);
  return found;
}

function elementsBySplitter(text: string, chunkBytes: number): unknown[] {
  const splitter = new ValueSplitter('array', undefined, 'test.json');
  const records: PartRecord[] = [];
  for (const chunk of cutChunks(text, chunkBytes)) splitter.push(chunk, records);
  splitter.end(records);
  return records.map((record) =>
    JSON.parse(Buffer.from(record.kind === 'record' ? record.bytes : record.head).toString('utf8')),
  );
}

function cutChunks(text: string, chunkBytes: number): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
}

it('finds the elements that stream-json finds, however the array is written and cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ depthSize: 'small' }), { maxLength: 8 }),
      fc.constantFrom(0, 1, 2, '\t'),
      fc.integer({ min: 1, max: 64 }),
      async (elements, indent, chunkBytes) => {
        const text = JSON.stringify(elements, null, indent);
        const expected = await elementsByStreamJson(text, chunkBytes);
        expect(elementsBySplitter(text, chunkBytes)).toEqual(expected);
        expect(expected).toEqual(JSON.parse(text));
      },
    ),
  );
});

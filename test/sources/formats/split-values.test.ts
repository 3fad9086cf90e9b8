import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RECORD_MAX_BYTES } from '../../../src/contract/part.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { memoryFile, readAll } from './memory-file.ts';

describe('a JSON array', () => {
  it('keeps the original text of every element, with the line it starts in', async () => {
    const body = ' [\n{"id": 12345678901234567890, "s":"a]},{\\"[\\\\"},\n\n  [1,[2]], "x,]" ,1.50,null\n]\n';
    for (const chunkBytes of [1, 2, 5, 1_000]) {
      const { texts, lines, failure } = await readAll(memoryFile(body, chunkBytes));
      expect(failure).toBeUndefined();
      expect(texts).toEqual([
        '{"id": 12345678901234567890, "s":"a]},{\\"[\\\\"}',
        '[1,[2]]',
        '"x,]"',
        '1.50',
        'null',
      ]);
      expect(lines).toEqual([2, 4, 4, 4, 4]);
    }
  });

  it('gives back any values, however they are written and chunked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        fc.constantFrom(undefined, 2),
        fc.integer({ min: 1, max: 40 }),
        async (values, indent, chunkBytes) => {
          const body = JSON.stringify(values, null, indent);
          const { texts, failure } = await readAll(memoryFile(body, chunkBytes), { format: 'json' });
          expect(failure).toBeUndefined();
          expect(texts.map((text) => JSON.parse(text))).toEqual(JSON.parse(body));
        },
      ),
    );
  });

  it('makes a malformed element one record and continues behind it', async () => {
    const { texts, failure } = await readAll(
      memoryFile('[{"a":1},{"a":nope},oops,{"a" 3} {"b":4}\n,{"c":5}]'),
    );
    expect(failure).toBeUndefined();
    expect(texts).toEqual(['{"a":1}', '{"a":nope}', 'oops', '{"a" 3}', '{"b":4}', '{"c":5}']);
  });

  it('fails where the array breaks off, naming the line, after the elements before', async () => {
    for (const [body, count] of [
      ['[{"a":1},\n{"a":2', 1],
      ['[{"a":1},\n{"a":"2]}', 1],
      ['[{"a":1}\n,', 1],
      ['[', 0],
    ] as const) {
      const { records, failure } = await readAll(memoryFile(body));
      expect(records).toHaveLength(count);
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toMatch(/export: the JSON array ends .*line \d/);
    }
  });

  it('reads arrays that follow one another, and fails other text behind one', async () => {
    expect((await readAll(memoryFile('[{"a":1}]\n[{"a":2}]\n[]'))).texts).toEqual(['{"a":1}', '{"a":2}']);
    const { texts, failure } = await readAll(memoryFile('[{"a":1}]\ntrailing'));
    expect(texts).toEqual(['{"a":1}']);
    expect(String(failure)).toMatch(/other than an array in line 2/);
  });

  it('keeps only the head of an element beyond the limit', async () => {
    const huge = `{"x":"${'y'.repeat(RECORD_MAX_BYTES)}"}`;
    const { records } = await readAll(memoryFile(`[{"a":1},${huge},{"b":2}]`));
    expect(records.map(({ kind }) => kind)).toEqual(['record', 'oversize', 'record']);
    expect(records[1]).toMatchObject({ size: huge.length });
  });
});

describe('JSON documents over several lines', () => {
  it('reads each as one record', async () => {
    const values = [{ a: 1, b: { c: [1, 2] } }, { d: '}{' }];
    const body = values.map((value) => JSON.stringify(value, null, 2)).join('\n');
    const { texts, lines } = await readAll(memoryFile(body, 7));
    expect(texts.map((text) => JSON.parse(text))).toEqual(values);
    expect(lines).toEqual([1, 10]);
  });
});

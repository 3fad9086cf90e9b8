import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import Papa from 'papaparse';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RECORD_MAX_BYTES } from '../../../src/contract/part.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { createRecordParser } from '../../../src/sources/formats/parse-record.ts';
import { readRecords } from '../../../src/sources/formats/read-records.ts';
import { ALL } from '../../support/form.ts';
import { memoryFile, readAll } from './memory-file.ts';

const csv = { format: 'csv' } as const;
const readHeader = ({ chunks }: Awaited<ReturnType<typeof readAll>>) =>
  String(Buffer.from(chunks[0]?.header ?? []));

/** The rows once parsed, `undefined` for rejects. */
async function readValues(body: string | Buffer, chunkBytes = 1_000, delimiter?: string) {
  const read = await readAll(memoryFile(body, chunkBytes), { ...csv, delimiter });
  return read.chunks.flatMap(({ format, header, records }) => {
    const parse = createRecordParser(format, header);
    return records.map((record) => {
      const parsed = parse(record);
      return parsed.kind === 'object' ? parsed.value : undefined;
    });
  });
}

describe('CSV', () => {
  it('keeps header and rows as they were, with quoted line ends, and counts lines', async () => {
    const body = '\ufeffid,text\r\n1,"two\r\nlines, ""quoted"""\r\n\r\n2,plain\n3,"no line end"';
    for (const chunkBytes of [1, 2, 3, 10, 1_000]) {
      const read = await readAll(memoryFile(body, chunkBytes), csv);
      expect(readHeader(read)).toBe('id,text');
      expect(read.texts).toEqual(['1,"two\r\nlines, ""quoted"""', '2,plain', '3,"no line end"']);
      expect(read.lines).toEqual([2, 5, 6]);
      expect(read.chunks[0]?.format).toEqual({ kind: 'csv', delimiter: ',' });
    }
  });

  it('finds the delimiter in the header row unless one is declared', async () => {
    for (const delimiter of [',', ';', '\t', '|']) {
      expect(await readValues(`a${delimiter}b\n1,5;x${delimiter}2\n`, 100, delimiter)).toHaveLength(1);
      const read = await readAll(memoryFile(`a${delimiter}"b,c"${delimiter}d\n`.concat('1', '\n')), csv);
      expect(read.chunks[0]?.format).toEqual({ kind: 'csv', delimiter });
    }
    const tsv = await readAll(memoryFile('a,b\tc\n1\t2\n'), { format: 'tsv' });
    expect(tsv.chunks[0]?.format).toEqual({ kind: 'csv', delimiter: '\t' });
    expect(await readValues('a¦b\n1¦ä\n', 1, '¦')).toEqual([{ a: '1', b: 'ä' }]);
  });

  it('reads back any table, however it is cut into chunks', async () => {
    const cell = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', 'ä', '😀', ' ', '\t') }),
      fc.string({ unit: 'grapheme' }),
    );
    const table = fc
      .integer({ min: 2, max: 4 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }));
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.integer({ min: 1, max: 50 }),
        fc.constantFrom('\n', '\r\n'),
        async (rows, chunkBytes, newline) => {
          const names = (rows[0] ?? []).map((_, index) => `c${index}`);
          const body = Papa.unparse([names, ...rows], { newline, quotes: true });
          const values = await readValues(body, chunkBytes, ',');
          expect(values).toEqual(
            rows.map((row) => Object.fromEntries(row.map((value, index) => [`c${index}`, value]))),
          );
        },
      ),
    );
  });

  it('ends a row with an unclosed quote at its line end, and continues behind it', async () => {
    const body = 'id,text\n1,good\n2,"never closed\n3,good\n4,good\n';
    for (const chunkBytes of [1, 5, 1_000]) {
      const values = await readValues(body, chunkBytes);
      expect(values).toEqual([
        { id: '1', text: 'good' },
        undefined,
        { id: '3', text: 'good' },
        { id: '4', text: 'good' },
      ]);
    }
  });

  it('ends a row with a stray quote at its line end even where a later line closes it', async () => {
    const body = 'id,text\n1,"stray\n2,said "hello" to all\n3,good\n4,"quoted"\n';
    for (const chunkBytes of [1, 5, 1_000]) {
      const read = await readAll(memoryFile(body, chunkBytes), csv);
      expect(read.texts).toEqual(['1,"stray', '2,said "hello" to all', '3,good', '4,"quoted"']);
      expect(read.lines).toEqual([2, 3, 4, 5]);
    }
  });

  it('finds the rows that PapaParse finds from each line end on, whatever quotes are where', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', '"', '"', '""', ',', ',"', '",', '\n', '\n"', '"\n', '\r\n', ' '),
      minLength: 1,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 60 }), async (rows, chunkBytes) => {
        const read = await readAll(memoryFile(`x,y\n${rows}`, chunkBytes), { ...csv, delimiter: ',' });
        expect(read.failure).toBeUndefined();
        expect(read.texts.map((row, index) => [read.lines[index], row])).toEqual(findRowsSlowly(rows));
      }),
      { numRuns: 2_500 },
    );
  });

  it('loses no row to stray quotes, and does not slow down on a file full of them', async () => {
    const rows = Array.from({ length: 30_000 }, (_, index) =>
      index % 3 ? `${index},plain` : `${index},"stray`,
    );
    const body = `id,text\n${rows.join('\n')}\n`;
    const parsed = watchParsedText();
    const values = await readValues(body, 64 * 1024);
    expect(values).toHaveLength(rows.length);
    expect(values.filter((value) => value === undefined)).toHaveLength(10_000);
    // Not by the clock: a stray quote costs one more look at some kilobytes, never at the rest of the file.
    expect(parsed.characters / body.length).toBeLessThan(200);
  });

  it('gives up on an unclosed quote after the limit of a record, and finds the rows behind', async () => {
    const filler = `${'9,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(300_000)}`;
    expect(filler.length).toBeGreaterThan(RECORD_MAX_BYTES);
    const read = await readAll(memoryFile(`id,text\n1,"open\n${filler}2,last\n`, 512 * 1024), csv);
    expect(read.failure).toBeUndefined();
    expect(read.records).toHaveLength(300_002);
    expect(read.texts[0]).toBe('1,"open');
    expect(read.lines.at(-1)).toBe(300_003);
  });

  it('reads a row that is too long as one reject, whatever its quoted cells hold', async () => {
    const fake = '7,"fake"'.replaceAll('"', '""');
    for (const cell of [
      `${fake}\n`.repeat(1_000_000),
      'x'.repeat(RECORD_MAX_BYTES + 5),
      `${'x'.repeat(RECORD_MAX_BYTES + 5)}\n7,fake\n`,
    ]) {
      const body = `id,text,more\n1,a,b\n2,"${cell}" ,"c\n7,fake"\r\n3,a,b\n`;
      for (const chunkBytes of ALL ? [64 * 1024 - 1, 512 * 1024] : [512 * 1024]) {
        const read = await readAll(memoryFile(body, chunkBytes), csv);
        expect(read.failure).toBeUndefined();
        expect(read.records.map(({ kind }) => kind)).toEqual(['record', 'oversize', 'record']);
        expect(read.lines).toEqual([2, 3, 4 + cell.split('\n').length]);
      }
    }
  });

  it('reads again, in whatever it is packed, where a stray quote hid rows behind the limit', async () => {
    const rows = '9,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(300_000);
    const body = `id,text\n0,first\n1,"open\n${rows}2,"quoted"\n3,"open\n${rows}4,"open\n5,last`;
    const { writeZip } = await import('./write-zip.ts');
    const zip = writeZip([{ name: 'a.csv', body: Buffer.from(body) }]);
    for (const packed of ALL ? [Buffer.from(body), gzipSync(body), zip] : [zip]) {
      const seen = createHash('sha256');
      const texts: string[] = [];
      const file = memoryFile(packed, 512 * 1024);
      for await (const { records } of readRecords(file, csv, (bytes) => seen.update(bytes))) {
        for (const record of records)
          texts.push(record.kind === 'record' ? String(record.bytes) : record.kind);
      }
      expect(texts).toHaveLength(600_006);
      expect([texts[1], texts[300_002], texts[300_003]]).toEqual(['1,"open', '2,"quoted"', '3,"open']);
      expect(texts.slice(-2)).toEqual(['4,"open', '5,last']);
      const once = createHash('sha256');
      for await (const _ of readRecords(file, { format: 'jsonl' }, (bytes) => once.update(bytes)));
      expect(seen.digest('hex')).toBe(once.digest('hex'));
    }
  });

  it.runIf(ALL)('names the line where more quotes are stray than it reads again for', async () => {
    const rows = '9,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n'.repeat(270_000);
    const body = `id,text\n${`1,"open\n${rows}`.repeat(5)}`;
    const read = await readAll(memoryFile(body, 512 * 1024), csv);
    expect(String(read.failure)).toContain('line 1080006: a quote opens a cell that is larger than');
  });

  it('keeps the head of an endless line and continues behind it', async () => {
    const huge = 'x'.repeat(RECORD_MAX_BYTES + 10);
    const read = await readAll(memoryFile(`id,text\n1,${huge}\n2,b\n`), csv);
    expect(read.records.map(({ kind }) => kind)).toEqual(['oversize', 'record']);
    expect(read.lines).toEqual([2, 3]);
  });

  it('starts each member of a zip with its own header', async () => {
    const { writeZip } = await import('./write-zip.ts');
    const zip = writeZip([
      { name: 'a.csv', body: Buffer.from('x,y\n1,2\n') },
      { name: 'b.csv', body: Buffer.from('y,x\n3,4\n') },
    ]);
    expect(await readValues(zip)).toEqual([
      { x: '1', y: '2' },
      { y: '3', x: '4' },
    ]);
  });

  it('fails bare carriage returns and a header that is no row, instead of reading nothing', async () => {
    for (const body of ['a,b\r1,2\r3,4\r', 'a,"b\n']) {
      const { failure } = await readAll(memoryFile(body), csv);
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toMatch(/header row/);
    }
  });

  it.each([
    ['quoted cells', 'a,"b"\r1,"2"\r3,"4, 5"\r'],
    ['more text than a header may have', `a,b\r${'1,"2"\r'.repeat(300_000)}`],
    ['more text than a record may have', `a,b\r${'1,2\r'.repeat(RECORD_MAX_BYTES / 4)}`],
    ['one line end at last', 'a,"b"\r1,"2"\r3,4\n'],
  ])('names bare carriage returns in a file with %s', async (_name, body) => {
    const { records, failure } = await readAll(memoryFile(body), csv);
    expect(records).toEqual([]);
    expect(String(failure)).toContain('the line ends are bare carriage returns');
  });

  it('takes Windows line ends inside of a quoted header cell for text', async () => {
    expect(await readValues('a,"b\r\nc"\r\n1,2\r\n')).toEqual([{ a: '1', 'b\r\nc': '2' }]);
  });

  it('suggests another delimiter where the quotes of a header do not fit', async () => {
    const { failure } = await readAll(memoryFile('"a","b"\n1,2\n'), { ...csv, delimiter: ';' });
    expect(String(failure)).toMatch(/header row has a quote.*as where the delimiter is not ";"/);
  });

  it('reads JSON where a CSV was declared, and a header that starts with a bracket as a header', async () => {
    expect((await readAll(memoryFile('{"a":1}\n'), csv)).chunks[0]?.format).toEqual({ kind: 'json' });
    expect((await readAll(memoryFile('[{"a":1}]'), csv)).texts).toEqual(['{"a":1}']);
    expect(readHeader(await readAll(memoryFile('[Amplitude] Country,b\n1,2\n'), csv))).toBe(
      '[Amplitude] Country,b',
    );
  });
});

/**
 * The oracle: PapaParse reads one row of all the text that is left. Where its quotes make no sense and it
 * continues into another line, the row ends with its line, and reading starts again behind it.
 */
function findRowsSlowly(text: string): [line: number, row: string][] {
  const rows: [number, string][] = [];
  const all = text.endsWith('\n') ? text : `${text}\n`;
  let line = 2;
  for (let at = 0; at < all.length; ) {
    const { errors, meta } = Papa.parse<string[]>(all.slice(at), {
      delimiter: ',',
      newline: '\n',
      preview: 1,
      fastMode: false,
    });
    const isFaulty = errors.some(({ type }) => type === 'Quotes');
    const lineEnd = all.indexOf('\n', at) + 1;
    const end = isFaulty ? lineEnd : Math.max(lineEnd, at + meta.cursor);
    const row = all.slice(at, end - 1).replace(/\r$/, '');
    if (row.trim() !== '') rows.push([line, row]);
    line += all.slice(at, end).split('\n').length - 1;
    at = end;
  }
  return rows;
}

/** Counts the text that PapaParse is given, for as long as the test runs. */
function watchParsedText(): { characters: number } {
  const watched = { characters: 0 };
  const Parser = Papa.Parser;
  const spy = vi.spyOn(Papa, 'Parser').mockImplementation(function create(config) {
    const parser = new Parser(config);
    const { parse } = parser;
    return Object.assign(parser, {
      parse(text: string, baseIndex: number, ignoreLastRow: boolean) {
        watched.characters += text.length;
        return parse(text, baseIndex, ignoreLastRow);
      },
    });
  });
  onTestFinished(() => spy.mockRestore());
  return watched;
}

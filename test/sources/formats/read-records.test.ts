import { createHash } from 'node:crypto';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RECORD_MAX_BYTES } from '../../../src/contract/part.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import type { SourceFile } from '../../../src/sources/files/source-file.ts';
import { readRecords } from '../../../src/sources/formats/read-records.ts';
import { memoryFile, readAll } from './memory-file.ts';
import { writeZip } from './write-zip.ts';

const lines = (count: number, from = 0) =>
  Array.from(
    { length: count },
    (_, index) => `{"n":${from + index},"text":"äöü ${'x'.repeat(index % 50)}"}\n`,
  ).join('');

describe('packing', () => {
  it('reads many small members of a zip in few requests, and sees all of their bytes', async () => {
    const hours = Array.from({ length: 48 }, (_, hour) => ({
      name: `${hour}.json.gz`,
      body: gzipSync(lines(200, hour * 200)),
    }));
    const file = memoryFile(writeZip(hours));
    let requests = 0;
    const counted: SourceFile = {
      ...file,
      open: (range) => {
        requests += 1;
        return file.open(range);
      },
      readAt: (offset, length) => {
        requests += 1;
        return file.readAt(offset, length);
      },
    };
    const seen: Buffer[] = [];
    let records = 0;
    for await (const chunk of readRecords(counted, {}, (bytes) => void seen.push(bytes)))
      records += chunk.records.length;
    expect(records).toBe(48 * 200);
    expect(requests).toBeLessThan(5);
    const members = hours.flatMap(({ name, body }) => [Buffer.from(`${name}\n`), body]);
    expect(Buffer.concat(seen).equals(Buffer.concat(members))).toBe(true);
  });

  it('reads gzip of several members as one stream, also where a record straddles them', async () => {
    const packed = Buffer.concat(['{"a":1}\n{"a"', ':2}\n', '{"a":3}'].map((text) => gzipSync(text)));
    for (const chunkBytes of [1, 7, 30, 1_000]) {
      const { texts, failure } = await readAll(memoryFile(packed, chunkBytes));
      expect(failure).toBeUndefined();
      expect(texts).toEqual(['{"a":1}', '{"a":2}', '{"a":3}']);
    }
  });

  it('reads members behind zero padding, and takes padding at the end for nothing', async () => {
    const zeros = Buffer.alloc(700);
    const packed = Buffer.concat([gzipSync('{"a":1}\n'), zeros, gzipSync('{"a":2}\n'), zeros]);
    for (const chunkBytes of [13, 1_000]) {
      const { texts, failure } = await readAll(memoryFile(packed, chunkBytes));
      expect(failure).toBeUndefined();
      expect(texts).toEqual(['{"a":1}', '{"a":2}']);
    }
  });

  it('fails a truncated gzip with file and byte, after the records that came before', async () => {
    const packed = gzipSync(lines(20_000));
    const cut = packed.subarray(0, packed.length / 2);
    const { records, failure } = await readAll(memoryFile(cut));
    expect(records.length).toBeGreaterThan(5_000);
    expect(records.length).toBeLessThan(15_000);
    expect(failure).toBeInstanceOf(SourceError);
    expect(String(failure)).toContain(`export is damaged gzip at byte ${cut.length} (it ends too early)`);
  });

  it('fails a gzip with damage in the middle', async () => {
    const packed = gzipSync(lines(20_000));
    const damaged = Buffer.from(packed);
    damaged.fill(0xaa, packed.length / 2, packed.length / 2 + 50);
    expect((await readAll(memoryFile(damaged))).failure).toBeInstanceOf(SourceError);
  });

  it('reads all members before garbage, and names the byte where it begins', async () => {
    const members = Buffer.concat([gzipSync(lines(50)), gzipSync(lines(50, 50).trimEnd())]);
    const file = Buffer.concat([members, Buffer.from('GARBAGE TRAILING')]);
    for (const chunkBytes of [1, 9, 64 * 1024]) {
      const { records, failure } = await readAll(memoryFile(file, chunkBytes));
      expect(records).toHaveLength(100);
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toContain(
        `export is gzip up to byte ${members.length}, but what follows there is no gzip`,
      );
      expect(String(failure)).toContain(`head -c ${members.length}`);
    }
  });

  it('reads members whose headers carry a name, a comment, extra fields and a checksum', async () => {
    const packed = gzipSync('{"a":1}\n');
    const fields = Buffer.from([3, 0, 1, 0, 2, ...Buffer.from('name\0comment\0'), 0xaa, 0xbb]);
    const header = Buffer.from(packed.subarray(0, 10));
    header[3] = 0x02 | 0x04 | 0x08 | 0x10;
    const file = Buffer.concat([header, fields, packed.subarray(10), packed]);
    for (const chunkBytes of [1, 11, 1_000]) {
      const { texts, failure } = await readAll(memoryFile(file, chunkBytes));
      expect(failure).toBeUndefined();
      expect(texts).toEqual(['{"a":1}', '{"a":1}']);
    }
  });

  it.each([8, 4])('fails a gzip whose trailer does not fit its text (byte %i from the end)', async (back) => {
    const packed = gzipSync(lines(50));
    packed.writeUInt8(packed.readUInt8(packed.length - back) ^ 1, packed.length - back);
    const { records, failure } = await readAll(memoryFile(packed));
    expect(records).toHaveLength(50);
    expect(String(failure)).toMatch(/damaged gzip at byte \d+ \(its checksum does not match\)/);
  });

  it.each([3, 15])('fails a second member of which only %i bytes are there', async (bytes) => {
    const packed = gzipSync('{"a":1}\n');
    const { texts, failure } = await readAll(memoryFile(Buffer.concat([packed, packed.subarray(0, bytes)])));
    expect(texts[0]).toBe('{"a":1}');
    expect(String(failure)).toContain('it ends too early');
  });

  it('unpacks what is packed twice, and refuses what is packed three times', async () => {
    const twice = gzipSync(gzipSync('{"a":1}\n'));
    expect((await readAll(memoryFile(twice))).texts).toEqual(['{"a":1}']);
    const { records, failure } = await readAll(memoryFile(gzipSync(twice)));
    expect(records).toEqual([]);
    expect(String(failure)).toMatch(/more than 2 times; unpack it/);
  });

  it('recognises a format by its bytes and not by the name', async () => {
    for (const body of [Buffer.from('{"a":1}\n'), gzipSync('{"a":1}\n')]) {
      for (const name of ['a.csv', 'a.json.gz', 'a.zip', 'a']) {
        expect((await readAll(memoryFile(body, 100, name))).texts).toEqual(['{"a":1}']);
      }
    }
  });

  it('names packings and formats that it does not read, and what to do', async () => {
    for (const [hex, what] of [
      ['28b52ffd00', 'zstd'],
      ['425a6839', 'bzip2'],
      ['5041523115', 'Parquet'],
    ] as const) {
      const { failure } = await readAll(memoryFile(Buffer.from(hex, 'hex')));
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toContain(what);
    }
  });

  it.each([1, 1_000])('refuses a tar, plain and gzipped, in chunks of %i', async (chunkBytes) => {
    const header = Buffer.alloc(512);
    header.write('events.json');
    header.write('ustar', 257);
    const tar = Buffer.concat([header, Buffer.from('{"a":1}\n'.padEnd(512, '\0'))]);
    for (const body of [tar, gzipSync(tar)]) {
      const { records, failure } = await readAll(memoryFile(body, chunkBytes));
      expect(records).toEqual([]);
      expect(String(failure)).toContain(
        'is a tar archive, which is not read; unpack it, and name what it holds',
      );
    }
  });

  it('takes empty files, plain, gzipped and zipped, for no records', async () => {
    const empty = [
      Buffer.alloc(0),
      gzipSync(''),
      writeZip([]),
      writeZip([{ name: 'a', body: Buffer.alloc(0) }]),
    ];
    for (const body of [...empty, Buffer.from('\ufeff'), Buffer.from('\n \r\n')]) {
      expect(await readAll(memoryFile(body))).toMatchObject({ records: [], failure: undefined });
    }
  });

  it('keeps memory flat on a bomb that inflates a thousandfold', async () => {
    const bomb = gzipSync(Buffer.alloc(300 * 1024 * 1024, 'x'));
    let records = 0;
    const before = process.memoryUsage.rss();
    for await (const chunk of readRecords(memoryFile(bomb), {})) records += chunk.records.length;
    expect(records).toBe(1);
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
  });
});

describe('zip', () => {
  it('reads gzip and plain members, stored and deflated, in natural order without folders', async () => {
    const file = memoryFile(
      writeZip([
        { name: '1/1_2024-01-01_10#0.json.gz', body: gzipSync('{"h":10}') },
        { name: '1/', body: Buffer.alloc(0) },
        { name: '1/1_2024-01-01_9#0.json.gz', body: gzipSync('{"h":9}\n{"h":9.5}'), deflate: true },
        { name: '__MACOSX/1/._x', body: Buffer.from('binary') },
        { name: '1/1_2024-01-01_2#0.json', body: Buffer.from('{"h":2}\n'), deflate: true },
      ]),
      1_000,
      'export.zip',
    );
    const { records, texts, lines: numbers } = await readAll(file);
    expect(texts).toEqual(['{"h":2}', '{"h":9}', '{"h":9.5}', '{"h":10}']);
    expect(numbers).toEqual([1, 1, 2, 1]);
    expect(records.map(({ member }) => member)).toEqual([
      '1/1_2024-01-01_2#0.json',
      '1/1_2024-01-01_9#0.json.gz',
      '1/1_2024-01-01_9#0.json.gz',
      '1/1_2024-01-01_10#0.json.gz',
    ]);
  });

  it('makes names that climb out of folders harmless', async () => {
    const names = ['../../etc/passwd', '/abs/x', 'C:\\win\\..\\x', 'a/\u001b[31m./b'];
    const { records } = await readAll(
      memoryFile(writeZip(names.map((name) => ({ name, body: Buffer.from('{}') })))),
    );
    expect(new Set(records.map(({ member }) => member))).toEqual(
      new Set(['etc/passwd', 'abs/x', 'win/x', 'a/_[31m./b']),
    );
  });

  it('refuses a zip in a zip and a zip in a gzip, naming the member', async () => {
    const inner = writeZip([{ name: 'a.json', body: Buffer.from('{}') }]);
    const nested = await readAll(
      memoryFile(writeZip([{ name: 'in/ner.zip', body: inner }]), 100, 'outer.zip'),
    );
    expect(nested.failure).toBeInstanceOf(SourceError);
    expect(String(nested.failure)).toMatch(/outer\.zip, member in\/ner\.zip is a zip inside another archive/);
    expect(String((await readAll(memoryFile(gzipSync(inner)))).failure)).toMatch(
      /zip inside another archive/,
    );
  });

  it('refuses an encrypted member, naming it, after the ones before it', async () => {
    const body = Buffer.from('{"a":1}\n');
    const zip = writeZip([
      { name: 'a.json', body },
      { name: 'b.json', body, encrypted: true },
    ]);
    const { texts, failure } = await readAll(memoryFile(zip));
    expect(texts).toEqual(['{"a":1}']);
    expect(failure).toBeInstanceOf(SourceError);
    expect(String(failure)).toMatch(/member b\.json is encrypted/);
  });

  it('reads a member whose name ends like that of a folder', async () => {
    const { texts } = await readAll(
      memoryFile(
        writeZip([
          { name: 'a/', body: Buffer.alloc(0) },
          { name: 'b/', body: Buffer.from('{"b":1}') },
        ]),
      ),
    );
    expect(texts).toEqual(['{"b":1}']);
  });

  it('refuses an archive that holds more members than it states, instead of leaving them out', async () => {
    const member = (name: string) => ({ name, body: Buffer.from(`{"in":"${name}"}`) });
    const wrapped = writeZip([member('a'), member('b')]);
    wrapped.writeUInt16LE(1, wrapped.length - 12);
    // The directory of the second one is looked for where that of the first is.
    const joined = Buffer.concat([writeZip([member('a')]), writeZip([member('b')])]);
    for (const zip of [wrapped, joined]) {
      const { records, failure } = await readAll(memoryFile(zip, 1_000, 'x.zip'));
      expect(records).toEqual([]);
      expect(String(failure)).toMatch(
        /x\.zip is a damaged or unusual zip \(it states 1 members, and holds more\)/,
      );
    }
  });

  it('refuses an archive whose comment is the end of an empty one', async () => {
    const whole = writeZip([{ name: 'a', body: Buffer.from('{"a":1}') }]);
    const emptyEnd = writeZip([]);
    whole.writeUInt16LE(emptyEnd.length, whole.length - 2); // length of the comment
    const { records, failure } = await readAll(memoryFile(Buffer.concat([whole, emptyEnd]), 1_000, 'x.zip'));
    expect(records).toEqual([]);
    expect(String(failure)).toMatch(
      /x\.zip is a damaged or unusual zip \(it states 0 members, and holds more\)/,
    );
    expect(await readAll(memoryFile(emptyEnd, 1_000, 'x.zip'))).toMatchObject({
      records: [],
      failure: undefined,
    });
  });

  it('fails a cut-off archive, a damaged member and a wrong checksum', async () => {
    const body = Buffer.from(lines(2_000));
    const whole = writeZip([{ name: 'a.json', body, deflate: true }]);
    const bad = [
      whole.subarray(0, whole.length / 2),
      writeZip([{ name: 'a.json', body, deflate: true, crc: 1 }]),
      Buffer.from(whole).fill(0xff, 500, 600),
      writeZip([{ name: 'a.json.gz', body: gzipSync(body).subarray(0, 500) }]),
    ];
    for (const zip of bad) {
      const { failure } = await readAll(memoryFile(zip, 1_000, 'x.zip'));
      expect(failure).toBeInstanceOf(SourceError);
      expect(String(failure)).toContain('x.zip');
    }
    expect(deflateRawSync(body).length).toBeGreaterThan(600);
  });
});

describe('text', () => {
  const euro = '{"text":"€ 😀"}';

  it('reads UTF-8 with a byte order mark, and UTF-16 of both orders, in chunks of any size', async () => {
    const text = `${euro}\r\n{"b":2}\n`;
    const le = Buffer.from(`\ufeff${text}`, 'utf16le');
    for (const body of [Buffer.from(`\ufeff${text}`), le, Buffer.from(le).swap16()]) {
      for (const chunkBytes of [1, 3, 1_000]) {
        expect((await readAll(memoryFile(body, chunkBytes))).texts).toEqual([euro, '{"b":2}']);
      }
    }
  });

  it('keeps a torn UTF-16 character as a record that is not UTF-8', async () => {
    const body = Buffer.from('\ufeff{"a":"\ud800"}\n{"b":2}\n', 'utf16le');
    const { records, texts } = await readAll(memoryFile(body));
    expect(texts[1]).toBe('{"b":2}');
    expect(records[0]?.kind === 'record' && [...records[0].bytes]).toContain(0xff);
  });

  it('reads LF, CRLF, a missing last line end and blank lines, which count as lines', async () => {
    const body = '{"a":1}\r\n\r\n \t\n{"b":2}\n\n{"c":3}';
    for (const chunkBytes of [1, 2, 8, 9, 1_000]) {
      const { texts, lines: numbers } = await readAll(memoryFile(body, chunkBytes));
      expect(texts).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
      expect(numbers).toEqual([1, 4, 6]);
    }
  });

  it('keeps records that make no sense, byte for byte', async () => {
    const bad = [Buffer.from('nonsense'), Buffer.from([0, 0, 0]), Buffer.from([0x7b, 0xff, 0xfe, 0x7d])];
    const body = Buffer.concat(bad.flatMap((record) => [record, Buffer.from('\n')]));
    const { records } = await readAll(memoryFile(body));
    expect(records.map((record) => record.kind === 'record' && Buffer.from(record.bytes))).toEqual(bad);
  });

  it('keeps head, size, hash and line of a line of 50 MB, in flat memory, and continues behind it', async () => {
    const huge = Buffer.alloc(50 * 1024 * 1024, 'x');
    const body = Buffer.concat([Buffer.from('{"a":1}\n'), huge, Buffer.from('\n{"b":2}\n')]);
    const before = process.memoryUsage.rss();
    const { records, texts, lines: numbers } = await readAll(memoryFile(gzipSync(body)));
    expect(process.memoryUsage.rss() - before).toBeLessThan(120 * 1024 * 1024);
    expect(numbers).toEqual([1, 2, 3]);
    expect(texts[2]).toBe('{"b":2}');
    expect(records[1]).toMatchObject({
      kind: 'oversize',
      size: huge.length,
      sha256: createHash('sha256').update(huge).digest('hex'),
    });
    expect(texts[1]).toHaveLength(64 * 1024);
  });

  it('holds a record of exactly the limit, and not one byte more', async () => {
    const body = `${'x'.repeat(RECORD_MAX_BYTES)}\n${'x'.repeat(RECORD_MAX_BYTES + 1)}\n`;
    const { records } = await readAll(memoryFile(body));
    expect(records.map(({ kind }) => kind)).toEqual(['record', 'oversize']);
  });
});

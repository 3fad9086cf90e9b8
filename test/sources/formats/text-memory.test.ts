import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type PartRecord, RECORD_MAX_BYTES } from '../../../src/contract/part.ts';
import { type ReadOptions, readRecords } from '../../../src/sources/formats/read-records.ts';
import { memoryFile } from './memory-file.ts';
import { writeZip } from './write-zip.ts';

/** Records of 2 to 4,000 bytes and every 200th of 2 MB: more than zlib inflates at once, and than a chunk holds. */
function writeLines(count: number, seed: number): string[] {
  let state = seed;
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  return Array.from({ length: count }, (_, at) => {
    const length = at % 200 === 57 ? 2_000_000 : next(4_000);
    return `{"n":${at},"text":"${'äbc'.repeat(length / 4)}${next(1e9)}"}`;
  });
}

const copyText = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

const copy = (record: PartRecord): string =>
  record.kind === 'record'
    ? `${record.member} ${record.line} ${copyText(record.bytes)}`
    : `${record.member} ${record.line} ${record.size} ${record.sha256} ${copyText(record.head)}`;

/** All records as they were when their chunk was given, and how many were empty once it was freed. */
async function read(body: Buffer, options: ReadOptions, mayFree: boolean) {
  const texts: string[] = [];
  let emptied = 0;
  for await (const { records, header, free } of readRecords(memoryFile(body, 200_000), options)) {
    texts.push(...records.map(copy), String(header));
    if (mayFree) free?.();
    emptied += records.filter((record) => record.kind === 'record' && record.bytes.length === 0).length;
  }
  return { texts, emptied };
}

const lines = writeLines(800, 7);
const text = lines.join('\n');
const csv = ['n,text', ...lines.map((line, at) => `${at},"${line.replaceAll('"', '""')}\nmore"`)].join(
  '\r\n',
);
const members = Buffer.concat([
  gzipSync(text.slice(0, 3_000_001)),
  gzipSync(text.slice(3_000_001, 3_000_040)),
  gzipSync(text.slice(3_000_040)),
]);

describe.each<[string, Buffer, ReadOptions, 'freed' | 'kept']>([
  ['lines', gzipSync(text), {}, 'freed'],
  ['several members', members, {}, 'freed'],
  ['a byte order mark', gzipSync(`\uFEFF${text}`), {}, 'freed'],
  ['an array', gzipSync(`[${lines.join(',\n')}]`), {}, 'freed'],
  ['values one after the other', gzipSync(`{"a":\n1}${text}`), {}, 'freed'],
  [
    'a record that is too large',
    gzipSync(`${text}\n{"a":"${'x'.repeat(RECORD_MAX_BYTES)}"}\n{}`),
    {},
    'freed',
  ],
  ['gzip in gzip', gzipSync(gzipSync(text)), {}, 'freed'],
  ['text that does not shrink', gzipSync(text, { level: 0 }), {}, 'freed'],
  ['gzip in a zip', writeZip([{ name: 'a.json.gz', body: gzipSync(text) }]), {}, 'freed'],
  ['UTF-16', gzipSync(Buffer.from(`\uFEFF${text}`, 'utf16le')), {}, 'kept'],
  ['rows', gzipSync(csv), { format: 'csv' } as ReadOptions, 'kept'],
  ['plain text', Buffer.from(text), {}, 'kept'],
])('%s', (_, body, options, outcome) => {
  it('are read the same where each chunk is freed', async () => {
    const kept = await read(body, options, false);
    expect(kept.emptied).toBe(0);
    expect(kept.texts.length).toBeGreaterThan(lines.length);
    const freed = await read(body, options, true);
    expect(freed.texts.length).toBe(kept.texts.length);
    for (const [at, each] of freed.texts.entries())
      if (each !== kept.texts[at]) expect(each).toBe(kept.texts[at]);
    if (outcome === 'kept') expect(freed.emptied).toBe(0);
    else expect(freed.emptied).toBeGreaterThan(lines.length / 2);
  });
});

const MB = 1024 * 1024;

it.each([
  ['space in an array', '[', ' ', '{}]', 1],
  ['a record that is too large', '{}\n', 'x', '\n{}', 3],
])('takes no memory for what has no record: %s', async (_, first, filling, last, count) => {
  const filled = Array.from({ length: 20 }, () => gzipSync(filling.repeat(20 * MB), { level: 1 }));
  const body = Buffer.concat([gzipSync(first), ...filled, gzipSync(last)]);
  let most = 0;
  let records = 0;
  const onBytes = () => {
    most = Math.max(most, process.memoryUsage().arrayBuffers);
  };
  for await (const chunk of readRecords(memoryFile(body, 20_000), {}, onBytes))
    records += chunk.records.length;
  expect(records).toBe(count);
  expect(most / MB).toBeLessThan(300);
});

import { mkdir, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { SourceSlice } from '../../sources/source.ts';

const LF = 0x0a;

export interface Sample {
  /** Paths of the files that were written. */
  readonly files: readonly string[];
  readonly records: number;
}

/**
 * Writes the first records of each file of a source as files of the same kind, as text of UTF-8. Rows keep their
 * header. Records too large to be held are left out.
 */
export async function writeSample(
  slices: readonly SourceSlice[],
  folder: string,
  recordsPerFile: number,
): Promise<Sample> {
  await mkdir(folder, { recursive: true });
  const files: string[] = [];
  let records = 0;
  for (const [index, slice] of slices.entries()) {
    const number = String(index + 1).padStart(5, '0');
    for (const [part, { extension, texts }] of (await readTexts(slice, recordsPerFile)).entries()) {
      const path = join(folder, `${number}-${part + 1}-${toFileName(slice.name)}.${extension}`);
      records += await writeTexts(path, extension, texts);
      files.push(path);
    }
  }
  return { files, records };
}

interface Texts {
  readonly extension: 'csv' | 'json';
  /** The header of rows comes first. */
  readonly texts: Uint8Array[];
}

/** The beginning of a file: a list for each header, and for each kind of record. */
async function readTexts(slice: SourceSlice, most: number): Promise<Texts[]> {
  const lists: Texts[] = [];
  let [left, key]: [number, string | undefined] = [most, undefined];
  for await (const { format, header, records } of slice.readRecords()) {
    const own = `${format.kind} ${header ? Buffer.from(header).toString('latin1') : ''}`;
    if (own !== key) {
      key = own;
      lists.push({ extension: format.kind, texts: header ? [Buffer.from(header)] : [] });
    }
    for (const record of records) {
      if (left === 0) break;
      left -= 1;
      // Chunks are used again once the next one is read.
      if (record.kind === 'record') lists.at(-1)?.texts.push(Buffer.from(record.bytes));
    }
    if (left === 0) break;
  }
  return lists;
}

/** Returns the number of records. */
async function writeTexts(
  path: string,
  extension: Texts['extension'],
  texts: Texts['texts'],
): Promise<number> {
  // A record of several lines is no line of JSON; in an array its end is found.
  const isArray = extension === 'json' && texts.some((text) => text.includes(LF));
  const file = await open(path, 'wx', 0o600);
  try {
    if (isArray) await file.write('[');
    for (const [index, text] of texts.entries()) {
      if (isArray && index > 0) await file.write(',');
      await file.write(text);
      await file.write('\n');
    }
    if (isArray) await file.write(']');
  } finally {
    await file.close();
  }
  return texts.length - (extension === 'csv' ? 1 : 0);
}

/** Of a path or an address; what it is packed in is gone. */
const toFileName = (name: string): string =>
  basename(name)
    .replace(/(\.(gz|zip|json|jsonl|ndjson|csv|tsv|txt))+$/i, '')
    .replace(/[^\w.-]/g, '_')
    .slice(0, 80);

import { isUtf8 } from 'node:buffer';
import type { PartRecord } from '../../contract/part.ts';
import type { Slice } from '../../contract/slice.ts';
import { SourceError } from '../../lib/errors.ts';
import { openSourceFile } from '../../sources/files/open-source-file.ts';
import type { Encoding } from '../../sources/formats/decode-text.ts';
import { classifyMagic, MAGIC_BYTES } from '../../sources/formats/magic.ts';
import { createRecordParser } from '../../sources/formats/parse-record.ts';
import { readRecords } from '../../sources/formats/read-records.ts';
import type { ReadOptions } from '../../sources/formats/sniff-format.ts';
import type { Fields } from '../../sources/mapping/table.ts';
import type { SourceContext } from '../../sources/source.ts';

/** What one file holds, by its beginning. */
export interface Look {
  readonly compression: 'none' | 'gzip' | 'zip';
  readonly encoding: Encoding;
  /** Undefined: JSON. */
  readonly delimiter: string | undefined;
  readonly records: readonly Fields[];
  /** Records that cannot be read, and why the first of them cannot. */
  readonly unreadable: number;
  readonly why: string | undefined;
}

const RECORDS = 500;
/** Without a byte order mark nothing tells them apart but that the text then makes sense. */
const ENCODINGS: readonly Encoding[] = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'latin1'];

export async function lookAtFile(slice: Slice, context: SourceContext): Promise<Look> {
  const file = await openSourceFile(slice, context);
  const head = await file.readAt(0, Math.min(MAGIC_BYTES, file.bytes));
  const magic = classifyMagic(head);
  if (magic.kind === 'foreign') throw new SourceError(`${slice.name} is ${magic.what}: ${magic.advice}`);
  const compression = magic.kind === 'plain' ? 'none' : magic.kind;

  let best: Look | undefined;
  for (const encoding of ENCODINGS) {
    const read = async (options: ReadOptions) =>
      readSome(readRecords(file, { ...options, encoding }, () => {}));
    const asJson = await read({});
    const isJson = asJson.first !== undefined && /^\s*[{[]/.test(asJson.first);
    const { first, delimiter, ...seen } =
      isJson || asJson.first === undefined
        ? asJson
        : await read({ format: TSV.test(slice.name) ? 'tsv' : 'csv' });
    const look: Look = { compression, encoding, delimiter: isJson ? undefined : delimiter, ...seen };
    if (!seen.isGarbled && (first !== undefined || encoding === 'utf-8')) {
      if (seen.unreadable === 0 || look.records.length > 0) return look;
    }
    best ??= look;
  }
  if (best) return best;
  throw new SourceError(`${slice.name} cannot be read`);
}

/** Without a header row, or with JSON in its cells, the first line does not tell. */
const TSV = /\.tsv(?:\.gz)?$/i;

interface Seen {
  readonly first: string | undefined;
  readonly delimiter: string | undefined;
  readonly records: Fields[];
  readonly unreadable: number;
  readonly why: string | undefined;
  /** Whether the text is none in this encoding. */
  readonly isGarbled: boolean;
}

async function readSome(chunks: ReturnType<typeof readRecords>): Promise<Seen> {
  const records: Fields[] = [];
  let first: string | undefined;
  let delimiter: string | undefined;
  let unreadable = 0;
  let why: string | undefined;
  let isGarbled = false;
  try {
    for await (const { format, header, records: found } of chunks) {
      if (format.kind === 'csv') delimiter = format.delimiter;
      const parse = createRecordParser(format, header);
      for (const bytes of [...(header ? [header] : []), ...found.slice(0, RECORDS).map(toBytes)]) {
        const text = Buffer.from(bytes).toString('utf8');
        first ??= text;
        isGarbled ||= text.includes('\u0000') || !isUtf8(bytes);
      }
      for (const record of found.slice(0, RECORDS - records.length)) {
        const parsed = parse(record);
        if (parsed.kind === 'object') records.push(parsed.value);
        else {
          unreadable += 1;
          why ??= parsed.detail;
        }
      }
      if (records.length + unreadable >= RECORDS) break;
    }
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    why ??= error.message;
    unreadable += 1;
  }
  return { first, delimiter, records, unreadable, why, isGarbled };
}

const toBytes = (record: PartRecord): Uint8Array => (record.kind === 'record' ? record.bytes : record.head);

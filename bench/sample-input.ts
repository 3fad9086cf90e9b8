import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { createLocalFile } from '../src/sources/files/local-file.ts';
import type { SourceFile } from '../src/sources/files/source-file.ts';
import { bindSource } from '../src/sources/registry.ts';
import { type SourceSlice, toSourceSlice } from '../src/sources/source.ts';
import { createRecordWriter } from './sample-record.ts';

export interface SampleInput {
  readonly path: string;
  readonly records: number;
  readonly persons: number;
  /** Before compression. */
  readonly bytes: number;
}

/** Records of one gzip member. */
const MEMBER_RECORDS = 10_000;
/** Records per person of an ordinary export. */
const USUAL_VISITS = 150;

/**
 * An Amplitude export as one `.json.gz` of several members, which every contender can read. The same numbers
 * give the same bytes.
 */
export async function createSampleInput(
  folder: string,
  records: number,
  recordsPerPerson = USUAL_VISITS,
): Promise<SampleInput> {
  const path = join(folder, `export-${records}-${recordsPerPerson}.json.gz`);
  const persons = Math.ceil(records / recordsPerPerson);
  let bytes = 0;
  function* writeMembers(): Generator<Buffer> {
    const write = createRecordWriter(recordsPerPerson);
    for (let first = 0; first < records; first += MEMBER_RECORDS) {
      const lines: string[] = [];
      const end = Math.min(records, first + MEMBER_RECORDS);
      for (let index = first; index < end; index += 1) lines.push(write(index));
      const member = Buffer.from(lines.join(''));
      bytes += member.length;
      yield gzipSync(member, { level: 6 });
    }
  }
  await pipeline(Readable.from(writeMembers()), createWriteStream(path));
  return { path, records, persons, bytes };
}

export async function openSource(path: string): Promise<SourceFile> {
  const { size, mtime } = await stat(path);
  return createLocalFile(path, { name: path, bytes: size, modified: mtime.toISOString() });
}

/** The sample as a run finds and opens it. */
export async function createSlice(path: string): Promise<SourceSlice> {
  const context = { baseDir: dirname(path) };
  const source = bindSource({ type: 'amplitude', timezone: 'UTC', from: [path] });
  const [slice] = await source.discover(context);
  if (!slice) throw new Error(`no sample at ${path}`);
  return toSourceSlice(slice, source, context);
}

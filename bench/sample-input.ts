import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { generateAmplitudeExport } from '../src/demo/generate-amplitude-export.ts';
import { createLocalFile } from '../src/sources/files/local-file.ts';
import type { SourceFile } from '../src/sources/files/source-file.ts';
import { zipMembers } from '../src/sources/formats/unzip.ts';
import { bindSource } from '../src/sources/registry.ts';
import { type SourceSlice, toSourceSlice } from '../src/sources/source.ts';

export interface SampleInput {
  readonly path: string;
  readonly records: number;
  /** Before compression. */
  readonly bytes: number;
}

/**
 * The sample export as one `.json.gz` of several members, which every contender can read; the documented
 * script cannot read a zip.
 */
export async function createSampleInput(folder: string, records: number): Promise<SampleInput> {
  const zip = join(folder, 'export.zip');
  const path = join(folder, 'export.json.gz');
  const facts = await generateAmplitudeExport(zip, { events: records, persons: Math.ceil(records / 150) });
  await pipeline(Readable.from(readMembers(await openSource(zip))), createWriteStream(path));
  return { path, records: facts.records, bytes: facts.bytes };
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

async function* readMembers(zip: SourceFile): AsyncGenerator<Buffer> {
  for await (const member of zipMembers(zip, () => {})) yield* member.open();
}

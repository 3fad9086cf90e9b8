import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { generateAmplitudeExport } from '../src/demo/generate-amplitude-export.ts';
import { createLocalFile } from '../src/sources/files/local-file.ts';
import type { SourceFile } from '../src/sources/files/source-file.ts';
import { zipMembers } from '../src/sources/formats/unzip.ts';

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

export const openSource = async (path: string): Promise<SourceFile> =>
  createLocalFile(path, path, await stat(path));

async function* readMembers(zip: SourceFile): AsyncGenerator<Buffer> {
  for await (const member of zipMembers(zip, () => {})) yield* member.open();
}

import { rejected } from '../../contract/outcome.ts';
import type { PartRecord } from '../../contract/part.ts';
import { getMessage } from '../../lib/errors.ts';
import { createRecordParser } from '../../sources/formats/parse-record.ts';
import type { MapRecord, SourceSlice } from '../../sources/source.ts';
import { chooseFiles } from './build-plan.ts';
import type { SampledFile, SampledRecord } from './plan.ts';

const FILES_SAMPLED = 20;
/** On S3 each is a few requests, one after the other. */
const FILES_AT_ONCE = 4;
const TEXT_SHOWN = 4_096;

/** Reads the beginning of some files: enough to see shapes and densities, cheap on any size. */
export async function readSample(
  files: readonly SourceSlice[],
  map: MapRecord,
  recordsPerFile: number,
): Promise<SampledFile[]> {
  const chosen = chooseFiles(files, FILES_SAMPLED);
  const sampled: SampledFile[] = [];
  for (let from = 0; from < chosen.length; from += FILES_AT_ONCE) {
    const next = chosen.slice(from, from + FILES_AT_ONCE);
    sampled.push(...(await Promise.all(next.map((file) => sampleFile(file, map, recordsPerFile)))));
  }
  return sampled;
}

async function sampleFile(file: SourceSlice, map: MapRecord, recordsPerFile: number): Promise<SampledFile> {
  const records: SampledRecord[] = [];
  let bytesRead = 0;
  let recordsRead = 0;
  let complete = true;
  try {
    for await (const chunk of file.readRecords()) {
      bytesRead = chunk.sourceBytes ?? file.bytes;
      const parse = createRecordParser(chunk.format, chunk.header);
      for (const record of chunk.records) {
        recordsRead += 1;
        if (records.length < recordsPerFile) records.push(understand(record, parse, map));
      }
      if (records.length >= recordsPerFile) {
        complete = false;
        break;
      }
    }
  } catch (error) {
    // A broken file is a fact of the plan, not its end.
    complete = false;
    records.push({ text: '', fields: undefined, outcome: rejected('unreadable', getMessage(error)) });
  }
  return {
    file: file.name,
    bytesRead: complete ? file.bytes : bytesRead,
    recordsRead: Math.max(recordsRead, records.length),
    complete,
    records,
  };
}

function understand(
  record: PartRecord,
  parse: ReturnType<typeof createRecordParser>,
  map: MapRecord,
): SampledRecord {
  const bytes = record.kind === 'record' ? record.bytes : record.head;
  const text = Buffer.from(bytes.subarray(0, TEXT_SHOWN)).toString('utf8');
  const parsed = parse(record);
  return parsed.kind === 'rejected'
    ? { text, fields: undefined, outcome: parsed }
    : { text, fields: parsed.value, outcome: map(parsed.value) };
}

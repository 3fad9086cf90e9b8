import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { PartMeta, PartRecord } from '../../contract/part.ts';
import {
  type RejectHead,
  type RejectLine,
  type RejectNote,
  type RejectSegment,
  rejectHead,
  rejectLine,
} from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { gunzip } from '../../lib/gzip.ts';
import { hashBytes } from '../hash-bytes.ts';
import { layout, parseMigrationName } from '../keys/migration.ts';
import type { PartRecords } from '../part-records.ts';
import { recoveryHint } from '../recovery-hint.ts';

/** What a reject segment is made from. */
export interface RejectedRecords {
  readonly part: PartMeta;
  /** The header row of a CSV. */
  readonly header: Uint8Array | undefined;
  /** Of the part: a note names its record by number. */
  readonly records: Pick<PartRecords, 'get'>;
  readonly notes: readonly RejectNote[];
}

/**
 * Writes one reject segment: JSON lines with everything that is needed to understand and replay each
 * record.
 */
export async function saveRejects(
  staging: Staging,
  key: string,
  rejects: RejectedRecords,
): Promise<RejectSegment> {
  const { part, header, records, notes } = rejects;
  function* lines(): Generator<RejectHead | RejectLine> {
    if (header) yield { header: toKeptBytes(header) };
    for (const note of notes) yield toRejectLine(part, note, records.get(note.record));
  }
  return saveLines(staging, key, lines(), notes.length);
}

/** The same of lines that were read from other segments of the part: the header comes before all of them. */
export function saveRejectLines(
  staging: Staging,
  key: string,
  rejects: readonly RejectLine[],
): Promise<RejectSegment> {
  const header = rejects[0]?.header;
  const lines = rejects.map(({ header: _, ...line }) => line);
  return saveLines(staging, key, header ? [{ header }, ...lines] : lines, lines.length);
}

async function saveLines(
  staging: Staging,
  key: string,
  lines: Iterable<RejectHead | RejectLine>,
  records: number,
): Promise<RejectSegment> {
  const body = await zipLines(lines);
  await staging.put(key, body);
  return { key, bytes: body.length, records, sha256: hashBytes(body) };
}

/** SourceError when the segment is gone or damaged: a lost segment must not look like an empty one. */
export async function readRejects(
  staging: Staging,
  { key, records, sha256 }: RejectSegment,
): Promise<RejectLine[]> {
  const createError = (fault: string, cause?: unknown) =>
    new SourceError(`${staging.location}: rejects ${key} are ${fault}; ${recoveryHint(key)}`, cause);
  const body = await staging.get(key);
  if (!body) throw createError('gone');
  if (sha256 !== undefined && hashBytes(body) !== sha256) throw createError('damaged');
  let lines: RejectLine[];
  try {
    lines = parseSegment(await gunzip(body));
  } catch (error) {
    throw createError('not what Backhaul wrote there', error);
  }
  const { rejectsOf } = layout(parseMigrationName(key));
  const foreign = lines.find(({ part }) => !key.startsWith(rejectsOf(part)));
  if (foreign) throw createError(`those of part ${foreign.part}`);
  if (records !== undefined && lines.length !== records)
    throw createError(`${lines.length} of the ${records} records that were written there`);
  return lines;
}

/** Adds the header of the segment to each record. */
function parseSegment(bytes: Buffer): RejectLine[] {
  const found: RejectLine[] = [];
  let head: RejectHead | undefined;
  for (const line of splitLines(bytes)) {
    const value: unknown = JSON.parse(line);
    if (found.length === 0 && !head) {
      head = rejectHead.safeParse(value).data;
      if (head) continue;
    }
    found.push({ ...rejectLine.parse(value), ...head });
  }
  return found;
}

const NEWLINE = 0x0a;

/** Line by line: a segment may be larger than a string can be. */
function* splitLines(bytes: Buffer): Generator<string> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end > start) yield bytes.toString('utf8', start, end);
    start = end + 1;
  }
}

const CHUNK_CHARACTERS = 256 * 1024;

/** Compresses chunk by chunk, so that the whole text is never in memory. */
async function zipLines(values: Iterable<object>): Promise<Buffer> {
  function* chunks(): Generator<string> {
    let text = '';
    for (const value of values) {
      text += `${JSON.stringify(value)}\n`;
      if (text.length < CHUNK_CHARACTERS) continue;
      yield text;
      text = '';
    }
    yield text;
  }
  const zipped: Buffer[] = [];
  await pipeline(Readable.from(chunks()), createGzip({ level: 6 }), async (output: AsyncIterable<Buffer>) => {
    for await (const chunk of output) zipped.push(chunk);
  });
  return Buffer.concat(zipped);
}

function toRejectLine(part: PartMeta, note: RejectNote, record: PartRecord): RejectLine {
  const bytes = record.kind === 'record' ? record.bytes : record.head;
  return {
    file: record.file ?? part.file,
    ...(record.member === undefined ? {} : { member: record.member }),
    line: record.line,
    part: part.id,
    record: note.record,
    reason: note.reason,
    detail: note.detail,
    ...(note.stays ? { stays: note.stays } : {}),
    ...(note.accepted ? { accepted: [...note.accepted] } : {}),
    ...(note.sends ? { sends: [...note.sends] } : {}),
    ...(note.staying ? { staying: [...note.staying] } : {}),
    format: part.format,
    ...(part.idFrom ? { idFrom: part.idFrom } : {}),
    ...(record.kind === 'oversize' ? { oversize: { bytes: record.size, sha256: record.sha256 } } : {}),
    ...toKeptBytes(bytes),
  };
}

/** Text where the bytes are UTF-8, else base64, so that every byte is kept. */
function toKeptBytes(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}

import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { PartMeta, PartRecord } from '../contract/part.ts';
import { type RejectLine, rejectLine } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { layout } from '../migration/layout.ts';
import type { RejectNote } from './advance.ts';

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** Writes one reject segment: JSON lines that hold all it takes to understand and replay a record. */
export async function putRejects(
  staging: Staging,
  migration: string,
  segment: string,
  part: PartMeta,
  header: Uint8Array | undefined,
  notes: readonly RejectNote[],
  records: readonly PartRecord[],
): Promise<string> {
  const lines = notes.map((note) => {
    const line = toRejectLine(part, header, note, records[note.record] as PartRecord);
    return `${JSON.stringify(line)}\n`;
  });
  const key = layout(migration).rejectSegment(segment);
  await staging.put(key, await zip(Buffer.from(lines.join('')), { level: 6 }));
  return key;
}

export async function readRejects(staging: Staging, key: string): Promise<RejectLine[]> {
  const body = await staging.get(key);
  if (!body) return [];
  const text = (await unzip(body)).toString('utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => rejectLine.parse(JSON.parse(line)));
}

function toRejectLine(
  part: PartMeta,
  header: Uint8Array | undefined,
  note: RejectNote,
  record: PartRecord,
): RejectLine {
  const bytes = record.kind === 'record' ? record.bytes : record.head;
  return {
    file: part.file,
    ...(record.member === undefined ? {} : { member: record.member }),
    line: record.line,
    part: part.id,
    record: note.record,
    reason: note.reason,
    detail: note.detail,
    format: part.format,
    ...(header ? { header: asText(header) } : {}),
    ...(record.kind === 'oversize' ? { oversize: { bytes: record.size, sha256: record.sha256 } } : {}),
    ...asText(bytes),
  };
}

/** Text where the bytes are UTF-8, else base64, so that every byte survives. */
function asText(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString('base64') };
  }
}

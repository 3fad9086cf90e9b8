import { createHash } from 'node:crypto';
import type { FileReceipt, PartMeta } from '../../contract/part.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { createFileId } from '../../sources/files/source-file.ts';
import { createRecordParser, type ParsedRecord } from '../../sources/formats/parse-record.ts';
import type { RecordChunk } from '../../sources/formats/read-records.ts';
import { layout } from '../../state/keys/migration.ts';
import { createFileReceipt } from '../../state/parts.ts';
import { type Origin, saveOrigins } from '../../state/rejects/origins.ts';
import { saveSentBefore } from '../../state/rejects/sent-before.ts';
import { type CutPart, PartCutter } from './cut-parts.ts';
import { keepPart } from './keep-part.ts';

/** In place of a fingerprint: these files were not found in a source, and are not searched for there. */
const FROM_REJECTS = 'rejects';

/** Whether a migration's files are rejects that were staged again. */
export const areStagedRejects = (files: readonly { readonly modified: string }[]): boolean =>
  files.every(({ modified }) => modified === FROM_REJECTS);

type StagedRejects = { fileId: string; name: string; bytes: number; modified: string; slice: string };

/** Rejects that become one slice, whatever the number of their files: each would be a part otherwise. */
interface Group {
  readonly slice: { readonly fileId: string; readonly name: string };
  readonly ids: Pick<PartMeta, 'idFrom'>;
  readonly cutter: PartCutter;
  readonly files: Map<string, { readonly fileId: string; records: number }>;
  /** Of the records that are in no part yet. */
  readonly waiting: (Origin & Pick<RejectLine, 'accepted'>)[];
  /** The file of the last record. */
  current: string | undefined;
  parts: number;
}

/** Whether different records share an id, so that their uuids have to be made of the whole record. */
const sharesId = ({ reason, idFrom }: Pick<RejectLine, 'reason' | 'idFrom'>): boolean =>
  reason === 'same_id_other_content' || idFrom === 'record';

/** The name of the file under which a reject is staged. */
export const toStagedName = (line: Pick<RejectLine, 'file' | 'reason' | 'idFrom'>): string =>
  sharesId(line) ? `${line.file} (${OWN_IDS})` : line.file;

/** Rejects are staged before the replay has its record, so the next process may stage others under the same name. */
export interface ReplayAttempt {
  /** Name of the replay. */
  readonly replay: string;
  /** Random and of this attempt alone, without `/` and `.`: part of the ids of its slices, and so of all of its keys. */
  readonly token: string;
}

/**
 * Stages rejected records as parts of a replay, each under the name of its file, and says of which records
 * they are. Different records that share an id come apart from the others, because their uuids are made of the whole
 * record. Throws StagedMeanwhileError where the attempt was given up by another process.
 */
export async function stageRejects(
  staging: Staging,
  { replay, token }: ReplayAttempt,
  rejects: AsyncIterable<RejectLine>,
): Promise<StagedRejects[]> {
  const { prefix } = layout(replay);
  const groups = {
    plain: createGroup(FROM_REJECTS, token, {}),
    apart: createGroup(OWN_IDS, token, { idFrom: 'record' }),
  };
  const keep = async (group: Group, cut: Iterable<CutPart>) => {
    for (const part of cut) {
      const { id } = await keepPart(part, { slice: group.slice, staging, prefix, ...group.ids }, undefined);
      const records = group.waiting.splice(0, part.records);
      await saveOrigins(staging, replay, id, records);
      await saveSentBefore(staging, replay, id, records);
      group.parts += 1;
    }
  };

  for await (const line of rejects) {
    const group = sharesId(line) ? groups.apart : groups.plain;
    const { cutter, files } = group;
    const name = toStagedName(line);
    const file = files.get(name) ?? { fileId: createFileId(name), records: 0 };
    files.set(name, file);
    if (name !== group.current) cutter.startFile({ fileId: file.fileId, file: name }, file.records);
    group.current = name;
    file.records += 1;
    const { part, record, accepted, sends } = line;
    group.waiting.push({ part, record, ...(accepted ? { accepted } : {}), ...(sends ? { sends } : {}) });
    await keep(group, cutter.add(toChunk(line)));
  }
  const staged: StagedRejects[] = [];
  for (const group of [groups.plain, groups.apart]) {
    await keep(group, group.cutter.end());
    if (group.files.size === 0) continue;
    const receipt = toReceipt(group);
    await createFileReceipt(staging, prefix, receipt);
    for (const [name, { fileId }] of group.files) {
      staged.push({ fileId, name, bytes: 0, modified: FROM_REJECTS, slice: receipt.fileId });
    }
  }
  return staged;
}

const OWN_IDS = 'under ids of their own';

const createGroup = (name: string, token: string, ids: Pick<PartMeta, 'idFrom'>): Group => ({
  slice: { fileId: `${createFileId(name)}-${token}`, name },
  ids,
  cutter: new PartCutter(),
  files: new Map(),
  waiting: [],
  current: undefined,
  parts: 0,
});

function toReceipt({ slice, files, parts }: Group): FileReceipt {
  const staged = [...files].map(([file, { fileId, records }]) => ({
    fileId,
    file,
    fingerprint: toFingerprint(file),
    records,
  }));
  return {
    fileId: slice.fileId,
    file: slice.name,
    fingerprint: toFingerprint(slice.name),
    parts,
    records: staged.reduce((sum, { records }) => sum + records, 0),
    files: staged,
  };
}

const toFingerprint = (name: string) => ({
  bytes: 0,
  modified: FROM_REJECTS,
  sha256: createHash('sha256').update(name).digest('hex'),
});

function toChunk(line: RejectLine): RecordChunk {
  return {
    format: line.format,
    header: line.header && toBytes(line.header),
    records: [{ kind: 'record', member: line.member, line: line.line, bytes: toBytes(line) }],
  };
}

/** The record of a reject, as its part is read. */
export function parseReject(line: RejectLine): ParsedRecord {
  const parse = createRecordParser(line.format, line.header && toBytes(line.header));
  return parse({ kind: 'record', member: line.member, line: line.line, bytes: toBytes(line) });
}

const toBytes = ({ text, base64 }: { text?: string | undefined; base64?: string | undefined }): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '', 'utf8') : Buffer.from(base64, 'base64');

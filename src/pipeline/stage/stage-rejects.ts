import { createHash } from 'node:crypto';
import type { FileReceipt } from '../../contract/part.ts';
import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { createFileId } from '../../sources/files/source-file.ts';
import type { RecordChunk } from '../../sources/formats/read-records.ts';
import { encodeDocument } from '../../state/document.ts';
import { partKeys } from '../../state/keys.ts';
import { type CutPart, PartCutter } from './cut-parts.ts';
import { keepPart } from './keep-part.ts';

/** In place of a fingerprint: these files were not found in a source, and are not searched for there. */
const FROM_REJECTS = 'rejects';

/** Whether a migration's files are rejects that were staged again. */
export const areStagedRejects = (files: readonly { readonly modified: string }[]): boolean =>
  files.every(({ modified }) => modified === FROM_REJECTS);

type StagedRejects = { fileId: string; name: string; bytes: number; modified: string; slice: string };

/** All of them are one group of files, whatever their number: each would be a part otherwise. */
const GROUP_ID = createFileId(FROM_REJECTS);

/** Stages rejected records as parts again, each under the name of its file. */
export async function stageRejects(
  staging: Staging,
  prefix: string,
  rejects: AsyncIterable<RejectLine>,
): Promise<StagedRejects[]> {
  const files = new Map<string, { readonly fileId: string; records: number }>();
  const cutter = new PartCutter();
  const slice = { fileId: GROUP_ID, name: FROM_REJECTS };
  let parts = 0;
  const keep = async (cut: Iterable<CutPart>) => {
    for (const part of cut) {
      await keepPart(part, { slice, staging, prefix }, undefined);
      parts += 1;
    }
  };

  let current: string | undefined;
  for await (const line of rejects) {
    const name = line.file;
    const file = files.get(name) ?? { fileId: createFileId(name), records: 0 };
    files.set(name, file);
    if (name !== current) cutter.startFile({ fileId: file.fileId, file: name }, file.records);
    current = name;
    file.records += 1;
    await keep(cutter.add(toChunk(line)));
  }
  await keep(cutter.end());
  if (files.size === 0) return [];

  const staged = [...files].map(([name, { fileId, records }]) => ({
    fileId,
    file: name,
    fingerprint: toFingerprint(name),
    records,
  }));
  const receipt: FileReceipt = {
    fileId: GROUP_ID,
    file: FROM_REJECTS,
    fingerprint: toFingerprint(FROM_REJECTS),
    parts,
    records: staged.reduce((sum, { records }) => sum + records, 0),
    files: staged,
  };
  await staging.put(partKeys(prefix).receipt(GROUP_ID), encodeDocument(receipt));
  return staged.map(({ fileId, file }) => ({
    fileId,
    name: file,
    bytes: 0,
    modified: FROM_REJECTS,
    slice: GROUP_ID,
  }));
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

const toBytes = ({ text, base64 }: { text?: string | undefined; base64?: string | undefined }): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '', 'utf8') : Buffer.from(base64, 'base64');

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

type StagedRejects = { fileId: string; name: string; bytes: number; modified: string };

/** Stages rejected records as parts again, each run of lines of one file under that file's name. */
export async function stageRejects(
  staging: Staging,
  prefix: string,
  rejects: AsyncIterable<RejectLine>,
): Promise<StagedRejects[]> {
  const files = new Map<string, { cutter: PartCutter; parts: number; records: number }>();
  const keep = async (name: string, cut: Iterable<CutPart>) => {
    const file = files.get(name);
    for (const part of cut) {
      await keepPart(part, { slice: { fileId: createFileId(name), name }, staging, prefix }, undefined);
      if (file) file.parts += 1;
    }
  };

  for await (const line of rejects) {
    const file = files.get(line.file) ?? { cutter: new PartCutter(), parts: 0, records: 0 };
    files.set(line.file, file);
    file.records += 1;
    await keep(line.file, file.cutter.add(toChunk(line)));
  }
  const staged: StagedRejects[] = [];
  for (const [name, file] of files) {
    await keep(name, file.cutter.end());
    const receipt: FileReceipt = {
      fileId: createFileId(name),
      file: name,
      fingerprint: {
        bytes: 0,
        modified: FROM_REJECTS,
        sha256: createHash('sha256').update(name).digest('hex'),
      },
      parts: file.parts,
      records: file.records,
    };
    await staging.put(partKeys(prefix).receipt(receipt.fileId), encodeDocument(receipt));
    staged.push({ fileId: receipt.fileId, name, bytes: 0, modified: FROM_REJECTS });
  }
  return staged;
}

function toChunk(line: RejectLine): RecordChunk {
  return {
    format: line.format,
    header: line.header && toBytes(line.header),
    records: [{ kind: 'record', member: line.member, line: line.line, bytes: toBytes(line) }],
  };
}

const toBytes = ({ text, base64 }: { text?: string | undefined; base64?: string | undefined }): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '', 'utf8') : Buffer.from(base64, 'base64');

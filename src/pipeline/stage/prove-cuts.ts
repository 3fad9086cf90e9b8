import { createHash } from 'node:crypto';
import type { FileReceipt, PartDescription } from '../../contract/part.ts';
import { SourceError } from '../../lib/errors.ts';
import { giveBuffer } from '../../lib/spare-buffers.ts';
import { hashBytes } from '../../state/hash-bytes.ts';
import { parseMigrationName } from '../../state/keys/migration.ts';
import { toPartId } from '../../state/keys/parts.ts';
import { loadReceipt } from '../../state/receipts.ts';
import { type CutPart, PartCutter, type StagedParts } from './cut-parts.ts';
import { explainChange } from './keep-part.ts';
import { type LostBody, listLostBodies } from './lost-bodies.ts';
import { readUntilAborted } from './read-until-aborted.ts';
import type { StageSliceInput } from './stage-slice.ts';

/**
 * A file was staged to its end and lost descriptions of parts. Reads it once without writing anything, and returns
 * where its parts end: the same records make the same parts. Throws SourceError where the file is another now, or
 * where a part that was imported might hold other records: its receipt and checkpoint would count those.
 */
export async function proveCuts(
  {
    slice,
    staging,
    prefix,
    signal,
  }: Pick<StageSliceInput, 'staging' | 'prefix' | 'signal'> & {
    readonly slice: Exclude<StageSliceInput['slice'], { readonly files: unknown }>;
  },
  known: ReadonlyMap<number, PartDescription>,
  earlier: FileReceipt,
): Promise<StagedParts> {
  const { fileId } = slice;
  const bodies = await listLostBodies(staging, prefix, fileId, known);
  const staged = new Map<number, { records: number; firstRecord?: number }>(known);
  for (const [number, [body, ...others]] of bodies)
    if (body && others.length === 0) staged.set(number, { records: body.records });

  const prove = async (part: CutPart) => {
    const { number, firstRecord, records } = part;
    const before = known.get(number);
    const isSame = before
      ? before.firstRecord === firstRecord && before.records === records
      : isDetermined(number, known, earlier) ||
        isOneOf(bodies.get(number), part) ||
        !(await loadReceipt(staging, parseMigrationName(prefix), toPartId(fileId, number)));
    if (!isSame) throw explainOtherCut(slice.name, toPartId(fileId, number));
    giveBuffer(part.frames);
  };
  const hash = createHash('sha256');
  const cutter = new PartCutter(undefined, staged);
  let parts = 0;
  const proveAll = async (cut: Iterable<CutPart>) => {
    for (const part of cut) {
      parts += 1;
      await prove(part);
    }
  };
  for await (const chunk of readUntilAborted(slice, (bytes) => hash.update(bytes), signal)) {
    await proveAll(cutter.add(chunk));
    chunk.free?.();
  }
  await proveAll(cutter.end());
  if (hash.digest('hex') !== earlier.fingerprint.sha256) throw explainChange(slice, 'it has other content');
  if (parts !== earlier.parts) throw explainOtherCut(slice.name, toPartId(fileId, parts));
  return staged;
}

/** A part between two that are described, or between one and the end of the file, holds what lies between. */
const isDetermined = (number: number, known: ReadonlyMap<number, unknown>, { parts }: FileReceipt) =>
  (number === 0 || known.has(number - 1)) && (number === parts - 1 || known.has(number + 1));

const isOneOf = (bodies: readonly LostBody[] = [], { frames }: CutPart): boolean =>
  bodies.some(({ sha256 }) => sha256 === hashBytes(frames));

const explainOtherCut = (file: string, part: string) =>
  new SourceError(
    `the descriptions of several parts of ${file} are lost, and nothing says where part ${part} ended, of which events were sent: restore the folder parts/ of the migration from a backup, and resume`,
  );

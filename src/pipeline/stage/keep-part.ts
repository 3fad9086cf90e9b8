import type { FilePiece, Packing, PartDescription, PartMeta } from '../../contract/part.ts';
import type { Slice } from '../../contract/slice.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { brotli } from '../../lib/gzip.ts';
import { giveBuffer } from '../../lib/spare-buffers.ts';
import { encodeDocument } from '../../state/document.ts';
import { hashBytes } from '../../state/hash-bytes.ts';
import { partKeys, toPartId } from '../../state/keys/parts.ts';
import { loadFrames, loadPartDescription, StagedMeanwhileError } from '../../state/parts.ts';
import type { CutPart, CutPiece } from './cut-parts.ts';

type Named = Pick<Slice, 'name'>;

export interface KeepPartInput {
  readonly slice: Pick<Slice, 'fileId' | 'name'>;
  readonly staging: Staging;
  /** Of the migration, with its closing slash. */
  readonly prefix: string;
  readonly idFrom?: PartMeta['idFrom'];
  /** @default 'brotli' */
  readonly packing?: Packing | undefined;
}

/**
 * Body first, description after it: a part exists once described. Both are created once: where another process was
 * faster, its part is taken if it holds the same, else StagedMeanwhileError is thrown. The memory of its frames is
 * used again.
 */
export async function keepPart(
  part: CutPart,
  input: KeepPartInput,
  known: PartDescription | undefined,
): Promise<PartDescription> {
  if (known && !(await isSame(part, input, known)))
    throw explainChange(input.slice, `part ${known.id} would hold other records`);
  const kept = known ?? (await writePart(part, input));
  giveBuffer(part.frames);
  return kept;
}

/** Another release of a compressor may pack the same frames otherwise: then they are compared themselves. */
async function isSame(
  { frames }: CutPart,
  { staging, prefix }: KeepPartInput,
  known: PartDescription,
): Promise<boolean> {
  if (known.packing !== 'brotli') return known.sha256 === hashBytes(frames);
  if (known.sha256 === hashBytes(await brotli(frames))) return true;
  return known.bytes === frames.length && (await loadFrames(staging, prefix, known)).equals(frames);
}

async function writePart(part: CutPart, input: KeepPartInput): Promise<PartDescription> {
  const { slice, staging, prefix, idFrom, packing = 'brotli' } = input;
  const keys = partKeys(prefix);
  const id = toPartId(slice.fileId, part.number);
  const body = packing === 'none' ? part.frames : await brotli(part.frames);
  const sha256 = hashBytes(body);
  const { etag } = await staging.put(keys.body({ id, packing, sha256 }), body);
  const description: PartDescription = {
    id,
    fileId: slice.fileId,
    file: slice.name,
    number: part.number,
    format: part.format,
    records: part.records,
    bytes: part.frames.length,
    packing,
    sha256,
    etag,
    firstRecord: part.firstRecord,
    ...(idFrom ? { idFrom } : {}),
    ...(part.pieces.length === 0 ? {} : { pieces: part.pieces.map((piece) => toFilePiece(piece, part)) }),
  };
  if (await staging.create(keys.description(id), encodeDocument(description))) return description;
  const taken = await loadPartDescription(staging, prefix, id);
  // Frames name the files that their records are from, so equal frames have equal pieces.
  if (taken && taken.firstRecord === part.firstRecord && (await isSame(part, input, taken))) return taken;
  throw new StagedMeanwhileError(slice.name);
}

const toFilePiece = (
  { fileId, file, firstRecord, records, start, end }: CutPiece,
  { frames }: CutPart,
): FilePiece => ({ fileId, file, firstRecord, records, sha256: hashBytes(frames.subarray(start, end)) });

export const explainChange = ({ name }: Named, how: string) =>
  new SourceError(
    `${name} changed after it was staged (${how}): put the old file back and resume, or run the new one as a migration with another name (events that are there already are not added twice)`,
  );

import { createHash } from 'node:crypto';
import type { FilePiece, PartDescription, PartMeta } from '../../contract/part.ts';
import type { Slice } from '../../contract/slice.ts';
import type { Staging } from '../../contract/staging.ts';
import { SourceError } from '../../lib/errors.ts';
import { gzip } from '../../lib/gzip.ts';
import { encodeDocument } from '../../state/document.ts';
import { partKeys, toPartId } from '../../state/keys.ts';
import type { CutPart, CutPiece } from './cut-parts.ts';

type Named = Pick<Slice, 'name'>;

export interface KeepPartInput {
  readonly slice: Pick<Slice, 'fileId' | 'name'>;
  readonly staging: Staging;
  /** Of the migration, with its closing slash. */
  readonly prefix: string;
  readonly idFrom?: PartMeta['idFrom'];
}

/** Body first, description after it: a part exists once described. */
export async function keepPart(
  part: CutPart,
  { slice, staging, prefix, idFrom }: KeepPartInput,
  known: PartDescription | undefined,
): Promise<PartDescription> {
  const keys = partKeys(prefix);
  const sha256 = createHash('sha256').update(part.frames).digest('hex');
  if (known) {
    if (known.sha256 !== sha256) throw explainChange(slice, `part ${known.id} would hold other records`);
    return known;
  }
  const id = toPartId(slice.fileId, part.number);
  const { etag } = await staging.put(
    keys.body(id),
    await gzip(part.frames, { level: 2, chunkSize: 1024 * 1024 }),
  );
  const description: PartDescription = {
    id,
    fileId: slice.fileId,
    file: slice.name,
    number: part.number,
    format: part.format,
    records: part.records,
    bytes: part.frames.length,
    sha256,
    etag,
    firstRecord: part.firstRecord,
    ...(idFrom ? { idFrom } : {}),
    ...(part.pieces.length === 0 ? {} : { pieces: part.pieces.map((piece) => toFilePiece(piece, part)) }),
  };
  await staging.put(keys.description(id), encodeDocument(description));
  return description;
}

const toFilePiece = (
  { fileId, file, firstRecord, records, start, end }: CutPiece,
  { frames }: CutPart,
): FilePiece => ({ fileId, file, firstRecord, records, sha256: hashPiece(frames.subarray(start, end)) });

export const hashPiece = (frames: Uint8Array): string => createHash('sha256').update(frames).digest('hex');

export const explainChange = ({ name }: Named, how: string) =>
  new SourceError(
    `${name} changed after it was staged (${how}): put the old file back and resume, or run the new one as a migration with another name (events that are there already are not added twice)`,
  );

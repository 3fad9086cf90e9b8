import { createHash } from 'node:crypto';
import {
  type FileReceipt,
  fileReceipt,
  type PartDescription,
  type PartMeta,
  partDescription,
} from '../contract/part.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { gunzip, unbrotli } from '../lib/gzip.ts';
import { listDocuments, loadDocument } from './document.ts';
import { parseFileReceiptKey, parsePartKey, partKeys } from './keys.ts';
import { decodeFrames, type PartRecords } from './part-records.ts';
import { recoveryHint } from './recovery-hint.ts';

/** The records of a part, once its checksum is verified. */
export async function loadPart(staging: Staging, prefix: string, meta: PartMeta): Promise<PartRecords> {
  return decodeFrames(await loadFrames(staging, prefix, meta));
}

/** The frames of a part as they were staged; SourceError where they are gone or are others. */
export async function loadFrames(staging: Staging, prefix: string, meta: PartMeta): Promise<Buffer> {
  const key = partKeys(prefix).body(meta);
  const createError = (why: string, cause?: unknown) =>
    new SourceError(`${staging.location}: part ${key} of ${meta.file} ${why}; ${recoveryHint(key)}`, cause);
  const body = await staging.get(key);
  if (!body) throw createError('is gone');
  const verify = (hashed: Buffer) => {
    const sha256 = createHash('sha256').update(hashed).digest('hex');
    if (sha256 !== meta.sha256) throw createError(`is damaged: its sha256 is ${sha256}, not ${meta.sha256}`);
  };
  if (meta.packing) verify(body);
  if (meta.packing === 'none') return body;
  let frames: Buffer;
  try {
    const unpack = meta.packing === 'brotli' ? unbrotli : gunzip;
    // One chunk that holds everything and the end marker: several chunks would be copied together.
    frames = await unpack(body, { chunkSize: meta.bytes + 64, maxOutputLength: Math.max(1, meta.bytes) });
  } catch (error) {
    throw createError('is damaged: it cannot be unpacked', error);
  }
  if (!meta.packing) verify(frames);
  return frames;
}

/** Every staged part, in order of file and number. A part exists once its description does. */
export async function* listParts(staging: Staging, prefix: string): AsyncGenerator<PartMeta> {
  const descriptions = listDescriptions(staging, prefix, partKeys(prefix).parts);
  for await (const description of descriptions) yield withoutPieces(description);
}

/** The parts of one slice, with the pieces of files in them. */
export async function* listFileParts(
  staging: Staging,
  prefix: string,
  fileId: string,
): AsyncGenerator<PartDescription> {
  yield* listDescriptions(staging, prefix, partKeys(prefix).fileParts(fileId));
}

/** Undefined until the part is staged. */
export async function loadPartMeta(
  staging: Staging,
  prefix: string,
  id: string,
): Promise<PartMeta | undefined> {
  const description = await loadPartDescription(staging, prefix, id);
  return description && withoutPieces(description);
}

export function withoutPieces({ pieces: _, ...meta }: PartDescription): PartMeta {
  return meta;
}

/** The same with the pieces of files in it. */
export async function loadPartDescription(
  staging: Staging,
  prefix: string,
  id: string,
): Promise<PartDescription | undefined> {
  const key = partKeys(prefix).description(id);
  const description = await loadDocument(partDescription, key, staging);
  if (description && description.id !== id)
    throw createMisplacedError(staging, key, `part ${description.id}`);
  return description;
}

export async function* listFileReceipts(staging: Staging, prefix: string): AsyncGenerator<FileReceipt> {
  yield* listDocuments(staging, partKeys(prefix).receipts, (key) =>
    loadFileReceipt(staging, prefix, parseFileReceiptKey(prefix, key)),
  );
}

export async function loadFileReceipt(
  staging: Staging,
  prefix: string,
  fileId: string,
): Promise<FileReceipt | undefined> {
  const key = partKeys(prefix).receipt(fileId);
  const receipt = await loadDocument(fileReceipt, key, staging);
  if (receipt && receipt.fileId !== fileId) throw createMisplacedError(staging, key, receipt.file);
  return receipt;
}

const listDescriptions = (staging: Staging, prefix: string, below: string): AsyncGenerator<PartDescription> =>
  listDocuments(staging, below, (key) => loadPartDescription(staging, prefix, parsePartKey(prefix, key)));

const createMisplacedError = (staging: Staging, key: string, of: string) =>
  new SourceError(`${staging.location}: ${key} describes ${of}; ${recoveryHint(key)}`);

import {
  type FileReceipt,
  fileReceipt,
  type PartDescription,
  type PartMeta,
  partDescription,
} from '../contract/part.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError, UnavailableError } from '../lib/errors.ts';
import { gunzip, unbrotli } from '../lib/gzip.ts';
import { canonicalJson } from '../lib/json/canonical-json.ts';
import { takeBuffer } from '../lib/spare-buffers.ts';
import { encodeDocument, listDocuments, loadDocument } from './document.ts';
import { hashBytes } from './hash-bytes.ts';
import { parseFileReceiptKey, parsePartKey, partKeys } from './keys/parts.ts';
import { decodeFrames, type PartRecords } from './part-records.ts';
import { recoveryHint } from './recovery-hint.ts';

/** The records of a part, once its checksum is verified. */
export async function loadPart(
  staging: Staging,
  prefix: string,
  meta: PartMeta,
  signal?: AbortSignal,
): Promise<PartRecords> {
  let memory: Buffer | undefined;
  const take = (bytes: number) => {
    memory = takeBuffer(bytes);
    return memory;
  };
  // Packed parts are unpacked into memory of zlib's.
  const reading = { take: meta.packing === 'none' ? take : undefined, signal };
  const frames = await loadFrames(staging, prefix, meta, reading);
  return decodeFrames(frames, memory);
}

/** The frames of a part as they were staged; SourceError where they are gone or are others. */
export async function loadFrames(
  staging: Staging,
  prefix: string,
  meta: PartMeta,
  {
    take,
    signal,
  }: {
    readonly take?: ((bytes: number) => Buffer) | undefined;
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<Buffer> {
  const key = partKeys(prefix).body(meta);
  const createError = (why: string, cause?: unknown) =>
    new SourceError(`${staging.location}: part ${key} of ${meta.file} ${why}; ${recoveryHint(key)}`, cause);
  const body = await staging.get(key, take, signal);
  if (!body) throw createError('is gone');
  const verify = (hashed: Buffer) => {
    // In a quarter of the time of SHA-256, which then decides about what was put elsewhere, such as in S3.
    if (staging.isOfEtag?.(meta.etag, body)) return;
    const sha256 = hashBytes(hashed);
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

/** The latest receipt of each slice. */
export async function* listFileReceipts(staging: Staging, prefix: string): AsyncGenerator<FileReceipt> {
  let latest: { version: number; receipt: FileReceipt } | undefined;
  const all = listDocuments(staging, partKeys(prefix).receipts, async (key) => {
    const receipt = await loadReceiptVersion(staging, key);
    return receipt && { receipt, version: parseFileReceiptKey(key)?.version ?? 0 };
  });
  for await (const one of all) {
    // In key order the versions of one slice are next to one another, the first one last.
    const isNext = latest?.receipt.fileId !== one.receipt.fileId;
    if (latest && isNext) yield latest.receipt;
    if (!latest || isNext || one.version > latest.version) latest = one;
  }
  if (latest) yield latest.receipt;
}

export async function loadFileReceipt(
  staging: Staging,
  prefix: string,
  fileId: string,
): Promise<FileReceipt | undefined> {
  return (await loadFileReceiptVersion(staging, prefix, fileId)).receipt;
}

export interface FileReceiptVersion {
  /** 0 before the first. */
  readonly version: number;
  readonly receipt: FileReceipt | undefined;
}

export async function loadFileReceiptVersion(
  staging: Staging,
  prefix: string,
  fileId: string,
): Promise<FileReceiptVersion> {
  const keys = partKeys(prefix);
  let version = 0;
  for await (const { key } of staging.list(keys.receiptVersions(fileId))) {
    const parsed = parseFileReceiptKey(key);
    if (parsed?.fileId === fileId) version = Math.max(version, parsed.version);
  }
  if (version === 0) return { version, receipt: undefined };
  return { version, receipt: await loadReceiptVersion(staging, keys.receipt(fileId, version)) };
}

/** Throws StagedMeanwhileError where another process has written another one after `earlier`. */
export async function createFileReceipt(
  staging: Staging,
  prefix: string,
  receipt: FileReceipt,
  earlier: FileReceiptVersion = { version: 0, receipt: undefined },
): Promise<void> {
  const body = encodeDocument(receipt);
  if (earlier.receipt && canonicalJson(earlier.receipt) === canonicalJson(receipt)) return;
  const key = partKeys(prefix).receipt(receipt.fileId, earlier.version + 1);
  if (await staging.create(key, body)) return;
  // The very same one: its response was lost, or another process staged the same.
  if (!(await staging.get(key))?.equals(body)) throw new StagedMeanwhileError(receipt.file);
}

/** Undefined where the key is none of a receipt. */
async function loadReceiptVersion(staging: Staging, key: string): Promise<FileReceipt | undefined> {
  const parsed = parseFileReceiptKey(key);
  if (!parsed) return undefined;
  const receipt = await loadDocument(fileReceipt, key, staging);
  if (receipt && receipt.fileId !== parsed.fileId) throw createMisplacedError(staging, key, receipt.file);
  return receipt;
}

/** Two processes stage one slice and see it differently. Whoever comes second looks again at what there is. */
export class StagedMeanwhileError extends UnavailableError {
  constructor(file: string) {
    super(`another process is staging ${file}, too; looking again at what it has staged`);
  }
}

const listDescriptions = (staging: Staging, prefix: string, below: string): AsyncGenerator<PartDescription> =>
  listDocuments(staging, below, (key) => loadPartDescription(staging, prefix, parsePartKey(prefix, key)));

const createMisplacedError = (staging: Staging, key: string, of: string) =>
  new SourceError(`${staging.location}: ${key} describes ${of}; ${recoveryHint(key)}`);

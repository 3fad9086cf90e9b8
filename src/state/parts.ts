import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { z } from 'zod';
import { type FileReceipt, fileReceipt, type PartMeta, partMeta } from '../contract/part.ts';
import type { Staging } from '../contract/staging.ts';
import { SourceError } from '../lib/errors.ts';
import { loadDocument } from './document.ts';
import { type DecodedFrames, decodeFrames } from './frames.ts';
import { isDocument, partKeys } from './keys.ts';
import { recoveryHint } from './recovery-hint.ts';

const unzip = promisify(gunzip);

/** The records of a part, once its checksum is verified. */
export async function loadPart(staging: Staging, prefix: string, meta: PartMeta): Promise<DecodedFrames> {
  const key = partKeys(prefix).body(meta.id);
  const createError = (why: string, cause?: unknown) =>
    new SourceError(`${staging.location}: part ${key} of ${meta.file} ${why}; ${recoveryHint(key)}`, cause);
  const body = await staging.get(key);
  if (!body) throw createError('is gone');
  let frames: Buffer;
  try {
    // One chunk that holds everything and the end marker: several chunks would be copied together.
    frames = await unzip(body, { chunkSize: meta.bytes + 64, maxOutputLength: Math.max(1, meta.bytes) });
  } catch (error) {
    throw createError('is damaged: it cannot be unpacked', error);
  }
  const sha256 = createHash('sha256').update(frames).digest('hex');
  if (sha256 !== meta.sha256) throw createError(`is damaged: its sha256 is ${sha256}, not ${meta.sha256}`);
  return decodeFrames(frames);
}

/** Every staged part, in order of file and number. A part exists once its description does. */
export async function* listParts(staging: Staging, prefix: string): AsyncGenerator<PartMeta> {
  yield* loadAll(staging, partKeys(prefix).parts, partMeta);
}

export async function* listFileParts(
  staging: Staging,
  prefix: string,
  fileId: string,
): AsyncGenerator<PartMeta> {
  yield* loadAll(staging, partKeys(prefix).fileParts(fileId), partMeta);
}

/** Undefined until the part is staged. */
export function loadPartMeta(staging: Staging, prefix: string, id: string): Promise<PartMeta | undefined> {
  return loadDocument(partMeta, partKeys(prefix).description(id), staging);
}

export async function* listFileReceipts(staging: Staging, prefix: string): AsyncGenerator<FileReceipt> {
  yield* loadAll(staging, partKeys(prefix).receipts, fileReceipt);
}

export async function loadFileReceipt(
  staging: Staging,
  prefix: string,
  fileId: string,
): Promise<FileReceipt | undefined> {
  return loadDocument(fileReceipt, partKeys(prefix).receipt(fileId), staging);
}

/** Small objects that are read at once; on S3 each is a round trip. */
const READ_AHEAD = 16;

async function* loadAll<T>(staging: Staging, prefix: string, schema: z.ZodType<T>): AsyncGenerator<T> {
  let keys: string[] = [];
  const load = async () => {
    const values = await Promise.all(keys.map((key) => loadDocument(schema, key, staging)));
    keys = [];
    return values.filter((value) => value !== undefined);
  };
  for await (const { key } of staging.list(prefix)) {
    if (isDocument(key)) keys.push(key);
    if (keys.length === READ_AHEAD) yield* await load();
  }
  yield* await load();
}

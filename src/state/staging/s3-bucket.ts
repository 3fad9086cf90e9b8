import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { runWithin } from '../../lib/async/abort.ts';
import { UnavailableError } from '../../lib/errors.ts';
import { resumingBody } from './resuming-body.ts';
import { explainChange, explainSilence, isNoSuchKey, isS3Status, toS3Error } from './s3-errors.ts';
import { watchSilence } from './silence.ts';
import { PATIENCE, sitOut } from './sit-out.ts';
import { watchUploads } from './watch-uploads.ts';

export interface S3Options {
  readonly bucket: string;
  /** Any S3 endpoint, such as `http://127.0.0.1:9000`. @default AWS */
  readonly endpoint?: string | undefined;
  /** @default the SDK's own search, or `us-east-1` where an endpoint is given */
  readonly region?: string | undefined;
  /** @default the SDK's own search (environment, profile, role) */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  /** Bucket in the path instead of the host name. @default true where an endpoint is given */
  readonly forcePathStyle?: boolean | undefined;
  /** Time without a KiB after which a body is requested again from where it stopped; a listing may take twice as long. @default 30,000 */
  readonly idleTimeoutMs?: number | undefined;
  /** Until a request is answered, its repeats by the SDK included; for reading, until the body begins. @default 600,000 */
  readonly answerWithinMs?: number | undefined;
  /** Time for which a server that is away is waited for. @default 30,000; 5,000 before its first answer */
  readonly outageMs?: number | undefined;
  /** Called with why nothing is answered, once that lasts for about 20 s, and with undefined at the next answer. */
  readonly onTrouble?: ((trouble: string | undefined) => void) | undefined;
}

export interface S3Object {
  readonly key: string;
  readonly bytes: number;
  readonly etag: string;
}

/** One bucket, for staging and for sources on S3. Errors are Backhaul's own classes. */
export interface S3Bucket {
  put(key: string, body: Uint8Array): Promise<{ etag: string }>;
  /** False when the key exists. */
  create(key: string, body: Uint8Array): Promise<boolean>;
  /** Undefined when there is no such key. */
  get(key: string, signal?: AbortSignal): Promise<Buffer | undefined>;
  /** Bytes from `start` to before `end`; the object must still have `etag` where one is given. */
  open(key: string, range?: { start?: number; end?: number; etag?: string }): AsyncIterable<Buffer>;
  list(prefix: string): AsyncIterable<S3Object>;
  remove(key: string): Promise<void>;
}

const CREATE_TRIES = 20;
/**
 * The SDK gives up a connection on which nothing comes for a minute, and so never one on which there is a byte now and
 * then. An object of 16 MiB is written in this time where an uplink takes 30 KiB a second.
 */
const ANSWER_WITHIN_MS = 600_000;
/** An address that never answered is more likely to be wrong. */
const OUTAGE_MS = { known: 30_000, unknown: 5_000 };

export function createS3Bucket(options: S3Options): S3Bucket {
  const { bucket } = options;
  const client = createClient(options);
  const { idleTimeoutMs = 30_000, answerWithinMs = ANSWER_WITHIN_MS } = options;
  let known = false;
  const patience = {
    ...PATIENCE,
    outageMs: () => options.outageMs ?? (known ? OUTAGE_MS.known : OUTAGE_MS.unknown),
  };
  const silence = watchSilence(
    (doing, why) => explainSilence({ bucket, endpoint: options.endpoint, doing }, why),
    options.onTrouble ?? (() => {}),
  );
  watchUploads(client, silence.noteProgress);
  /** The SDK alone gives up within a second, and sooner once many of its requests have failed. */
  const guard = <T>(
    doing: string,
    work: (abortSignal: AbortSignal) => Promise<T>,
    withinMs = answerWithinMs,
  ): Promise<T> =>
    silence.during(
      doing,
      sitOut(async () => {
        try {
          const result = await runWithin(withinMs, work);
          known = true;
          silence.noteAnswer();
          return result;
        } catch (original) {
          const error = toS3Error(original, { bucket, endpoint: options.endpoint, doing });
          if (error instanceof UnavailableError) silence.noteFailure(error.message);
          else silence.noteAnswer();
          throw error;
        }
      }, patience),
    );

  /** The SDK repeats a request without a response, and takes one that was cut off for a fault, or for an empty list. */
  const listPage = async (prefix: string, token: string | undefined): Promise<ListObjectsV2CommandOutput> => {
    const command = { Bucket: bucket, Prefix: prefix, ContinuationToken: token };
    const load = async (abortSignal: AbortSignal) => {
      const page = await client.send(new ListObjectsV2Command(command), { abortSignal });
      const { Name, KeyCount, IsTruncated, NextContinuationToken: next } = page;
      if (Name === undefined && KeyCount === undefined && IsTruncated === undefined)
        throw new Error('the listing is empty or cut off');
      // Either end would be a shorter listing, or one without an end.
      if (IsTruncated && (!next || next === token))
        throw new Error('the listing has more than it gives, and no way to go on');
      return page;
    };
    return guard(`list ${prefix}`, load, 2 * idleTimeoutMs);
  };

  const requestRange = (
    key: string,
    start: number,
    end: number | undefined,
    etag: string | undefined,
    abortSignal: AbortSignal,
  ): Promise<GetObjectCommandOutput> =>
    client.send(
      new GetObjectCommand({
        Bucket: bucket,
        Key: key,
        ...(start === 0 && end === undefined
          ? {}
          : { Range: `bytes=${start}-${end === undefined ? '' : end - 1}` }),
        ...(etag === undefined ? {} : { IfMatch: etag }),
      }),
      { abortSignal },
    );

  const open: S3Bucket['open'] = (key, { start = 0, end, etag } = {}) => {
    const doing = `read ${key}`;
    if (end !== undefined && end <= start) return nothing();
    return resumingBody({
      start,
      end,
      etag,
      idleTimeoutMs,
      onBytes: silence.noteAnswer,
      request: (from, tag) =>
        guard(doing, async (abortSignal) => {
          const response = await requestRange(key, from, end, tag, abortSignal);
          const { ETag, Body } = response;
          // A server that does not know If-Match answers with what there is now.
          const isOther = tag !== undefined && ETag !== undefined && unquote(ETag) !== unquote(tag);
          if ((isOther || ETag === undefined) && Body instanceof Readable) Body.destroy();
          if (isOther) throw explainChange({ bucket, endpoint: options.endpoint, doing });
          requireEtag(ETag);
          return response;
        }),
      toError: (error) => toS3Error(error, { bucket, endpoint: options.endpoint, doing }),
    });
  };

  return {
    put: (key, body) =>
      guard(`write ${key}`, async (abortSignal) => {
        const command = { Bucket: bucket, Key: key, Body: toBuffer(body) };
        const response = await client.send(new PutObjectCommand(command), { abortSignal });
        return { etag: requireEtag(response.ETag) };
      }),
    // A retry after a lost response may find the object that its first try created, and return false: callers
    // must not conclude from "exists" that another process created it.
    create: (key, body) =>
      guard(`create ${key}`, async (abortSignal) => {
        for (let tries = 1; ; tries += 1) {
          try {
            const command = { Bucket: bucket, Key: key, Body: toBuffer(body), IfNoneMatch: '*' };
            requireEtag((await client.send(new PutObjectCommand(command), { abortSignal })).ETag);
            return true;
          } catch (error) {
            if (isS3Status(error, 412)) return false;
            // 409: another conditional write of the key is in progress; the next try sees its result.
            if (!isS3Status(error, 409) || tries === CREATE_TRIES) throw error;
            await pause(Math.min(1_000, 10 * 2 ** tries));
          }
        }
      }),
    async get(key, signal) {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of open(key)) {
          signal?.throwIfAborted();
          chunks.push(chunk);
        }
      } catch (error) {
        if (isNoSuchKey(error)) return undefined;
        throw error;
      }
      return Buffer.concat(chunks);
    },
    open,
    async *list(prefix) {
      let token: string | undefined;
      do {
        const page = await listPage(prefix, token);
        for (const { Key, Size, ETag } of page.Contents ?? []) {
          if (Key !== undefined) yield { key: Key, bytes: Size ?? 0, etag: unquote(ETag) };
        }
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },
    remove: (key) =>
      guard(`remove ${key}`, async (abortSignal) => {
        await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), { abortSignal });
      }),
  };
}

function createClient(options: S3Options): S3Client {
  const { endpoint, accessKeyId, secretAccessKey } = options;
  const region = options.region ?? (endpoint === undefined ? undefined : 'us-east-1');
  return new S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(accessKeyId !== undefined && secretAccessKey !== undefined
      ? { credentials: { accessKeyId, secretAccessKey } }
      : {}),
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    // Trailing checksums (the SDK's default) are refused or ignored by many servers that speak S3;
    // every part is checked by its own sha256 anyway.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 4,
    requestHandler: { connectionTimeout: 10_000, socketTimeout: 60_000 },
  });
}

/** Every S3 server names the object that it wrote or reads: a proxy that answers for it with a page does not. */
function requireEtag(etag: string | undefined): string {
  if (etag === undefined) throw new Error('the answer has no ETag, so it is not that of an S3 server');
  return unquote(etag);
}

async function* nothing(): AsyncGenerator<Buffer> {}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * ms));

const toBuffer = (body: Uint8Array): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);

/** Proxies that pack an answer call its etag weak. */
const unquote = (etag: string | undefined): string => (etag ?? '').replace(/^W\//, '').replaceAll('"', '');

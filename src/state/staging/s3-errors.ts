import { S3ServiceException } from '@aws-sdk/client-s3';
import { explainCertificate } from '../../lib/certificate.ts';
import { BackhaulError, ConfigError, getMessage, SourceError, UnavailableError } from '../../lib/errors.ts';

export interface S3Context {
  readonly bucket: string;
  readonly endpoint: string | undefined;
  /** `write a/b`, `list a/`. */
  readonly doing: string;
}

const CREDENTIALS = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'CredentialsProviderError',
]);

/** That nothing is answered, or what is answered says that it will be later. */
export const explainSilence = (context: S3Context, why: string): string =>
  `${toWhere(context)} does not respond (could not ${context.doing}: ${why})`;

/** Turns an error of the SDK into the class that names who must act: the operator, or nobody but a retry. */
export function toS3Error(original: unknown, context: S3Context): unknown {
  return original instanceof BackhaulError ? original : classify(original, slim(original), context);
}

const toWhere = ({ bucket, endpoint }: S3Context) => `s3://${bucket}${endpoint ? ` at ${endpoint}` : ''}`;

/** An object is another one than the one whose reading was begun, or that was listed. */
export const explainChange = (context: S3Context, cause?: unknown): SourceError =>
  new SourceError(
    `${toWhere(context)}: the object changed while it was being read (could not ${context.doing}); start again when nothing writes to it`,
    cause,
  );

function classify(original: unknown, error: Error, context: S3Context): BackhaulError {
  const { doing } = context;
  const where = toWhere(context);
  const { name } = error;
  const status = getStatus(original);

  if (name === 'NoSuchBucket') {
    return new ConfigError(
      `${where} does not exist (could not ${doing}): create the bucket, or correct its name, endpoint or region`,
      error,
    );
  }
  if (CREDENTIALS.has(name) || status === 401) {
    return new ConfigError(
      `${where} does not know these credentials (could not ${doing}: ${getMessage(error)}): check the access key, its secret and the endpoint, then run the command again; what was saved stays`,
      error,
    );
  }
  if (name === 'RequestTimeTooSkewed') {
    return new ConfigError(
      `${where} has another time than this machine (could not ${doing}): set the clock that is wrong, such as by NTP, then run the command again; what was saved stays`,
      error,
    );
  }
  if (/quota/i.test(name)) {
    return new ConfigError(
      `${where} is full (could not ${doing}: ${name}): raise its quota, or make room there, then run the command again; what was saved stays`,
      error,
    );
  }
  if (name === 'AccessDenied' || status === 403) {
    return new ConfigError(
      `${where} refuses this access key (could not ${doing}): grant it s3:ListBucket on the bucket and s3:GetObject, s3:PutObject, s3:DeleteObject on its objects`,
      error,
    );
  }
  if (status === 301 || name === 'PermanentRedirect' || name === 'AuthorizationHeaderMalformed') {
    return new ConfigError(
      `${where} is in another region (could not ${doing}): set the bucket's region`,
      error,
    );
  }
  if (name === 'NoSuchKey' || status === 404) {
    return new SourceError(
      `${where} has no such object (could not ${doing}): it was removed or renamed`,
      error,
    );
  }
  if (status === 412) return explainChange(context, error);
  if (status === 416) {
    return new SourceError(`${where}: the object is shorter than expected (could not ${doing})`, error);
  }
  if (name === 'Region is missing' || getMessage(error) === 'Region is missing') {
    return new ConfigError(
      `${where}: no region is set; set BACKHAUL_S3_REGION or AWS_REGION to that of the bucket, or BACKHAUL_S3_ENDPOINT for another server than AWS`,
      error,
    );
  }
  // The rest is 5xx, throttling and failures of the connection, or a refusal.
  const isRefusal =
    status !== undefined && status < 500 && status !== 408 && status !== 409 && status !== 429;
  if (isRefusal) {
    return new ConfigError(`${where} refused to ${doing}: ${name} ${getMessage(error)}`, error);
  }
  // A certificate may be renewed while a run waits.
  const why =
    explainCertificate(original, context.endpoint ?? 'the S3 service') ?? `${name} ${getMessage(error)}`;
  return new UnavailableError(explainSilence(context, why), 'backoff', error);
}

/** The SDK's errors carry the request with its signed headers, which must not be logged (I10). */
function slim(error: unknown): Error {
  const copy = new Error(getMessage(error));
  if (error instanceof Error) {
    copy.name = error.name;
    if (error.stack !== undefined) copy.stack = error.stack;
  }
  return copy;
}

export const isS3Status = (error: unknown, status: number): boolean => getStatus(error) === status;

/** Whether an error of this bucket means that the object (not the bucket) does not exist. */
export const isNoSuchKey = (error: unknown): boolean =>
  error instanceof SourceError && error.cause instanceof Error && error.cause.name === 'NoSuchKey';

const getStatus = (error: unknown): number | undefined =>
  error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;

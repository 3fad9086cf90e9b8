import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Logger } from 'pino';
import { getMessage } from '../../lib/errors.ts';
import { getSqlState } from '../database/db.ts';
import { describeOutage, isOutage, isRefusal } from '../database/outage.ts';

/** The body of every error. `attr` names the field at fault, or is null. */
export const errorSchema = z
  .object({
    type: z.enum([
      'validation_error',
      'authentication_error',
      'invalid_request',
      'throttled_error',
      'client_error',
      'server_error',
    ]),
    code: z.string(),
    detail: z.string(),
    attr: z.string().nullable(),
  })
  .openapi('Error');

export type ErrorEnvelope = Readonly<z.infer<typeof errorSchema>>;
export type ErrorType = ErrorEnvelope['type'];

/** An error response: thrown anywhere, written by the error handler. */
export class ApiError extends Error {
  readonly status: ContentfulStatusCode;
  readonly envelope: ErrorEnvelope;

  constructor(
    status: ContentfulStatusCode,
    type: ErrorType,
    code: string,
    detail: string,
    attr: string | null = null,
  ) {
    super(detail);
    this.name = 'ApiError';
    this.status = status;
    this.envelope = { type, code, detail, attr };
  }
}

export const notFound = (detail = 'Not found.') => new ApiError(404, 'invalid_request', 'not_found', detail);

export const invalidInput = (detail: string, attr: string | null = null) =>
  new ApiError(400, 'validation_error', 'invalid_input', detail, attr);

export const permissionDenied = (detail: string) =>
  new ApiError(403, 'authentication_error', 'permission_denied', detail);

export const methodNotAllowed = (method: string) =>
  new ApiError(405, 'invalid_request', 'method_not_allowed', `Method "${method}" not allowed.`);

export const tooLarge = () => new ApiError(413, 'client_error', 'request_too_large', 'Request too large.');

export const cutShort = (cause: unknown) =>
  new ApiError(
    400,
    'client_error',
    'request_cut_short',
    `The body did not arrive whole: ${getMessage(cause)}.`,
  );

export const unsupportedMediaType = (contentType: string) =>
  new ApiError(
    415,
    'invalid_request',
    'unsupported_media_type',
    `Unsupported media type "${contentType}" in request.`,
  );

export const unsupportedEncoding = (encoding: string) =>
  new ApiError(
    415,
    'invalid_request',
    'unsupported_media_type',
    `Unsupported content encoding "${encoding}" in request: send the body as it is.`,
  );

export const parseError = (reason: string) =>
  new ApiError(400, 'invalid_request', 'parse_error', `JSON parse error - ${reason}`);

/** Too many requests; the client may come again after so many seconds. */
export class ThrottledError extends ApiError {
  readonly retryAfterSeconds: number;

  constructor(seconds: number) {
    const wait = `${seconds} second${seconds === 1 ? '' : 's'}`;
    const detail = `Request was throttled. Expected available in ${wait}.`;
    super(429, 'throttled_error', 'throttled', detail);
    this.retryAfterSeconds = seconds;
  }
}

/** Data that Postgres cannot hold (NUL, numbers out of range, rows too wide for an index). */
const BAD_DATA = /^(?:22|54)/;

/** Of a statement without a limit of ours: an administrator has cancelled it. */
const CANCELLED = '57014';

/** A password that was changed, or a certificate that expired, is corrected while clients try again. */
const isAway = (error: unknown) => isOutage(error) || isRefusal(error) || getSqlState(error) === CANCELLED;

/** The response to an error; undefined when it is a bug of ours. */
export function classifyError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPException) {
    const type = error.status >= 500 ? 'server_error' : 'invalid_request';
    return new ApiError(error.status, type, type === 'server_error' ? 'error' : 'parse_error', error.message);
  }
  const state = getSqlState(error);
  if (state !== undefined && BAD_DATA.test(state)) {
    return invalidInput(`The data cannot be stored: ${error instanceof Error ? error.message : state}.`);
  }
  if (isAway(error)) {
    return new ApiError(
      503,
      'server_error',
      'server_error',
      'The database is not available. Please try again.',
    );
  }
  return undefined;
}

/** The address of a public page is its key, and no log holds keys (invariant I10). */
const redactPath = (c: Context) => c.req.path.replace(/^\/(shared|embedded)\/.*/, '/$1/[redacted]');

const HIDDEN = new ApiError(500, 'server_error', 'error', 'A server error occurred.');

/** The only error handler: details of our own bugs go to the log only. */
export function respondWithError(error: unknown, c: Context, log: Logger): Response {
  const known = classifyError(error);
  const { status, envelope } = known ?? HIDDEN;
  if (status >= 500) {
    // Of an outage no stack: it lasts for many requests, and is no fault of ours.
    const cause = isAway(error) ? { reason: describeOutage(error) } : { err: error };
    log.error({ ...cause, method: c.req.method, path: redactPath(c), status }, 'request failed');
  }
  if (status === 401) c.header('WWW-Authenticate', 'Bearer');
  if (status === 503 || status === 429) c.header('Retry-After', '1');
  if (known instanceof ThrottledError) c.header('Retry-After', String(known.retryAfterSeconds));
  return c.json(envelope, status);
}

import { ApiError } from '../http/errors.ts';

/** Characters of the input that an error message repeats. */
const MAX_NAMED = 200;

/** The refusals of the ingestion endpoints. One bad event refuses its whole request: nothing is stored. */
export const invalidPayload = (detail: string) =>
  new ApiError(400, 'validation_error', 'invalid_payload', detail);

export const malformed = (reason: string) => invalidPayload(`Malformed request data: ${reason}`);

export const noData = () =>
  new ApiError(
    400,
    'validation_error',
    'no_data',
    'No data found. Make sure to use a POST request when sending the payload in the body of the request.',
  );

export const unknownEncoding = (encoding: string, known: readonly string[]) =>
  new ApiError(
    415,
    'invalid_request',
    'unsupported_media_type',
    `Unsupported content encoding "${encoding.slice(0, MAX_NAMED)}" in request. Send the body as it is, with ` +
      `gzip, or packed as the parameter "compression" says: ${known.join(', ')}.`,
  );

export const unauthorised = (code: string, detail: string) =>
  new ApiError(401, 'authentication_error', code, detail);

/** No project has the key that a request carries. */
export const unknownProjectKey = () =>
  unauthorised('invalid_api_key', 'Project API key invalid. It is in the settings of the project.');

/** Too many requests in progress; `Retry-After` tells the sender when to retry. */
export const busy = () =>
  new ApiError(429, 'throttled_error', 'throttled', 'Request was throttled. Expected available in 1 second.');

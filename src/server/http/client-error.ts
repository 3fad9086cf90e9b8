import type { Duplex } from 'node:stream';
import type { ErrorEnvelope } from './errors.ts';

/** Of the request line and the headers together. Filters travel in the query, and are long at times. */
export const MAX_HEADER_BYTES = 64 * 1024;

/**
 * Responds to input that never becomes a request (server event `clientError`), where Node would close the
 * connection without a body. The connection ends: it is unknown where the next request would begin.
 */
export function respondToClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, detail] = describe(error.code);
  const envelope: ErrorEnvelope = { type: 'client_error', code, detail, attr: null };
  const body = JSON.stringify(envelope);
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function describe(code: string | undefined): readonly [status: string, code: string, detail: string] {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return [
        '431 Request Header Fields Too Large',
        'request_header_fields_too_large',
        `Address and headers of a request hold ${MAX_HEADER_BYTES / 1024} KiB at most.`,
      ];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'];
    default:
      return ['400 Bad Request', 'bad_request', 'This is no HTTP request that can be read.'];
  }
}

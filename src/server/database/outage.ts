import { explainCertificate } from '../../lib/certificate.ts';
import { getMessage, UnavailableError } from '../../lib/errors.ts';
import { getSqlState } from './db.ts';

/**
 * States of a server that is away, stopping, starting, full, or for now a standby that only reads (25006, as
 * connections get it that outlived a failover). See https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const OUTAGE = /^(?:08|53|57P|58030|25006)/;
/** Names of connecting (DNS included) and of connections that break. */
const SOCKET_FAULTS = new Set([
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);
/** node-postgres has no code for these. */
const DRIVER_FAULTS =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed))/;

/** Whether the database is away for now, so that the same statement can succeed later. */
export function isOutage(error: unknown): boolean {
  if (error instanceof UnavailableError) return true;
  const state = getSqlState(error);
  if (state !== undefined) return OUTAGE.test(state);
  return isConnectionFault(error);
}

/** Wrong password or user, no such database, no right to a table. */
const REFUSALS = /^(?:28|3D|42501)/;

/** Whether the server takes no connection of this role, or lets it do nothing there: only an operator can change it. */
export function isRefusal(error: unknown): boolean {
  const state = getSqlState(error);
  return state === undefined ? explainCertificate(error, '') !== undefined : REFUSALS.test(state);
}

function isConnectionFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (DRIVER_FAULTS.test(error.message)) return true;
  if (!('code' in error) || typeof error.code !== 'string') return false;
  if (SOCKET_FAULTS.has(error.code)) return true;
  // The socket file of a server that is not running.
  return error.code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect';
}

/** Of a host with several addresses, each fails by itself, and the error of them all has no message. */
export function describeOutage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(getMessage).join(', ');
  return getMessage(error);
}

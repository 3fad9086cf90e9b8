import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Where lines of JSON go. */
export interface LogDestination {
  write(line: string): void;
}

/** Logs go to stderr: stdout is data. Keys of any kind are cut out wherever they stand (I10). */
export function createLogger(level: string, destination: LogDestination = openLog(2)): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    },
    destination,
  );
}

/** What is kept of a log that cannot be written; the rest is dropped. */
const KEPT_CHARACTERS = 1_000_000;

/** Writes at once, and never throws: a full disk must not fail what is logged. */
export function openLog(dest: number | string): LogDestination {
  const log = pino.destination({ dest, sync: true, maxLength: KEPT_CHARACTERS });
  log.on('error', () => {}); // the next line tries again
  return log;
}

const SECRET_NAMES = [
  'apiKey',
  'api_key',
  'authorization',
  'password',
  'personalKey',
  'projectKey',
  'secretAccessKey',
];
/** In these a database names the row at fault, with its contents. */
const ROW_PATHS = ['err.detail', 'err.where'];
const SECRET_PATHS = [...SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), ...ROW_PATHS];

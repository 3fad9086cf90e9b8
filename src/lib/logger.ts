import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Where lines of JSON go. */
export interface LogDestination {
  write(line: string): void;
}

/** Logs go to stderr: stdout is data. Keys of any kind are cut out wherever they stand (I10). */
export function createLogger(
  level: string,
  destination: LogDestination = pino.destination({ dest: 2, sync: true }),
): Logger {
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

const SECRET_NAMES = [
  'apiKey',
  'api_key',
  'authorization',
  'password',
  'personalKey',
  'projectKey',
  'secretAccessKey',
];
/** In these a database names the row at fault, with what stands in it. */
const ROW_PATHS = ['err.detail', 'err.where'];
const SECRET_PATHS = [...SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), ...ROW_PATHS];

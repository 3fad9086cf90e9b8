import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Logs go to stderr: stdout is data. Keys of any kind are cut out wherever they stand (I10). */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    },
    pino.destination({ dest: 2, sync: true }),
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
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

import pino from 'pino';

/** For code that wants a logger, where the log is not what a test looks at. */
export const silent = pino({ level: 'silent' });

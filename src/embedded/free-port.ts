import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { UnavailableError } from '../lib/errors.ts';

/**
 * Below the range of ports for outgoing connections (from 32768 on Linux, 49152 on macOS): a server that died
 * must find its port free when it is started again.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 31_999;
const ATTEMPTS = 50;

export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, LAST_PORT + 1);
    if (await isFree(port)) return port;
  }
  throw new UnavailableError(
    `No free port on 127.0.0.1: ${ATTEMPTS} tries between ${FIRST_PORT} and ${LAST_PORT} failed. ` +
      'List what listens there with `ss -ltn`.',
  );
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

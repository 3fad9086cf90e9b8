import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { killAllBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

/** An S3 that takes connections and never answers. */
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket.on('error', () => {}));
});
let port: number;
let workplace: Workplace;
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
  workplace = createWorkplace();
});
afterEach(killAllBackhaul);
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await workplace.remove();
});

const COMMANDS = [
  ['status'],
  ['report', 'shop'],
  ['pause', 'shop'],
  ['rm', 'shop'],
  ['rejects', 'ls', 'shop'],
  ['rejects', 'replay', 'shop'],
  ['persons', 'send', 'shop'],
  ['resume', 'shop'],
  ['schedule', 'ls'],
];

it('commands say that they wait for an S3 that does not answer', async () => {
  const env = {
    BACKHAUL_STAGING: 's3://backhaul/staging',
    BACKHAUL_S3_ENDPOINT: `http://127.0.0.1:${port}`,
    BACKHAUL_S3_ACCESS_KEY_ID: 'a',
    BACKHAUL_S3_SECRET_ACCESS_KEY: 'b',
  };
  const started = COMMANDS.map((args) => ({
    args,
    command: startBackhaul(args, { dataDir: workplace.dataDir('here'), env }),
  }));
  for (const { args, command } of started) {
    const said = await until(
      `backhaul ${args.join(' ')} to say that it waits`,
      () => /^Waiting: .*$/m.exec(command.stderr())?.[0],
      90_000,
    );
    expect(said).toMatch(
      /^Waiting: s3:\/\/backhaul at http:\/\/127\.0\.0\.1:\d+ does not respond \(could not (read|list) staging\/.*: no answer for more than 20 s\)$/,
    );
  }
}, 120_000);

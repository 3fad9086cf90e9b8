import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiProcess, type ApiProcessOptions, startApiProcess } from '../../support/api-process.ts';
import { copyEmptyPglite } from '../../support/empty-pglite.ts';
import { ALL } from '../../support/form.ts';
import { type RunningPostgres, startPostgres } from '../../support/postgres.ts';

/**
 * Ingestion in a process of its own: killed with requests in every stage, and flooded. `npm test` kills it over
 * the embedded database, whose files die with it; a PostgreSQL server, which continues, is in the long form.
 */
const keys = { projectKey: 'phc_process', personalKey: 'phx_process' };
const ROUNDS = ALL ? 3 : 2;
const IN_FLIGHT = 6;
/** The heap of a small container; with the bodies held and the embedded database on top. */
const HEAP_MB = 1024;
const PEAK_MB = 2000;
const MB = 1_000_000;

let dataDir: string;
let postgres: RunningPostgres | undefined;
const started: ApiProcess[] = [];
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'backhaul-process-'));
  if (ALL) postgres = await startPostgres();
}, 180_000);
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await postgres?.stop();
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

interface Batch {
  readonly id: string;
  readonly body: string;
}

/** 200 events of one person, every other with a uuid; each adds a property. */
function createBatch(): Batch {
  const id = randomUUID();
  const batch = Array.from({ length: 200 }, (_, n) => ({
    ...(n % 2 === 0 ? { uuid: randomUUID() } : {}),
    event: 'e',
    timestamp: '2021-01-01T00:00:00Z',
    properties: { distinct_id: id, $set: { [`k${n}`]: n } },
  }));
  return { id, body: JSON.stringify({ api_key: keys.projectKey, historical_migration: true, batch }) };
}

test.each(ALL ? ['PGlite', 'PostgreSQL'] : ['PGlite'])(
  'kill -9 of the API on %s costs no event and stores none twice, when clients send again',
  async (database) => {
    if (database === 'PostgreSQL' && postgres === undefined)
      return expect(process.env['CI']).not.toBe('true');
    const options: ApiProcessOptions = {
      dataDir: join(dataDir, database),
      keys,
      ...(database === 'PGlite' || postgres === undefined ? {} : { databaseUrl: postgres.url }),
    };
    if (options.databaseUrl === undefined) await copyEmptyPglite(join(options.dataDir, 'database'));
    const start = async () => {
      const api = await startApiProcess(options);
      started.push(api);
      return api;
    };
    const waiting = Array.from({ length: ROUNDS * IN_FLIGHT * 2 }, createBatch);
    const all = waiting.map(({ id }) => id);
    for (let round = 0; round <= ROUNDS; round++) {
      const { child, url, ended } = await start();
      let accepted = 0;
      const sendAll = async (): Promise<void> => {
        for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
          const { body } = batch;
          const answer = await fetch(`${url}/batch/`, { method: 'POST', body }).catch(() => undefined);
          if (answer?.status !== 200) {
            waiting.push(batch); // no answer: as good as none of it
            return;
          }
          accepted += 1;
          // Each round dies at another moment; the last one lives.
          if (round < ROUNDS && accepted === IN_FLIGHT + round) child.kill('SIGKILL');
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, sendAll));
      if (round < ROUNDS) await ended;
    }
    expect(waiting).toEqual([]);

    const { url } = started.at(-1) ?? { url: '' };
    const read = async (path: string) => {
      const headers = { authorization: `Bearer ${keys.personalKey}` };
      return (await fetch(`${url}/api/projects/@current/${path}`, { headers })).text();
    };
    const stored = new Map<string, number>();
    for (const line of (await read('events/ids.ndjson')).trimEnd().split('\n')) {
      const { distinct_id: id } = JSON.parse(line) as { distinct_id: string };
      stored.set(id, (stored.get(id) ?? 0) + 1);
    }
    expect(stored).toEqual(new Map(all.map((id) => [id, 200])));
    const people = JSON.parse(await read('persons/?limit=1000')) as {
      results: { distinct_ids: string[]; properties: Record<string, unknown> }[];
    };
    expect(people.results.flatMap(({ distinct_ids }) => distinct_ids).sort()).toEqual([...all].sort());
    for (const { properties } of people.results) {
      expect(Object.keys(properties).filter((name) => /^k\d+$/.test(name))).toHaveLength(200);
    }
  },
  180_000,
);

/** Most memory that the process ever had, where the system tells. */
function peakMb(pid: number | undefined): number | undefined {
  const path = `/proc/${pid}/status`;
  const line = existsSync(path) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
  return line === undefined ? undefined : Number(line) / 1024;
}

// In npm test the same bodies are refused one by one: test/server/capture/hostile.test.ts.
test.runIf(ALL)(
  'a flood of the worst that may be sent is answered within the memory of a small container',
  async () => {
    await copyEmptyPglite(join(dataDir, 'flooded/database'));
    const api = await startApiProcess({
      dataDir: join(dataDir, 'flooded'),
      keys,
      heapMb: HEAP_MB,
    });
    started.push(api);
    const { child, url, ended } = api;
    const send = async (body: string | Buffer) => {
      const response = await fetch(`${url}/batch/`, {
        method: 'POST',
        body: typeof body === 'string' ? body : new Uint8Array(body),
      });
      await response.arrayBuffer();
      return response.status;
    };
    const envelope = (items: string) => `{"api_key":"${keys.projectKey}","batch":[${items}]}`;
    const tiny = envelope(`${'{"event":"e","distinct_id":"d"},'.repeat(600_000)}{}`);
    const fat = envelope(
      Array(19)
        .fill(`{"event":"e","distinct_id":"d","properties":{"a":"${'x'.repeat(MB)}"}}`)
        .join(),
    );
    const objects = gzipSync(`[${'{},'.repeat(6 * MB)}{}]`, { level: 1 });
    const bomb = gzipSync(Buffer.alloc(100 * MB, 0x20), { level: 1 });

    // Clients that announce more than they ever send, and do not hang up.
    const holders: Socket[] = [];
    for (let n = 0; n < 40; n++) {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(`POST /batch/ HTTP/1.1\r\nHost: x\r\nContent-Length: ${20 * MB}\r\n\r\n`);
      socket.write(Buffer.alloc(15 * MB, 0x20));
      holders.push(socket);
    }
    const worst = [tiny, fat, objects, bomb];
    const bodies = ALL ? [...worst, ...worst, ...worst] : worst;
    const statuses = await Promise.all(bodies.map(send));
    for (const socket of holders) socket.destroy();
    for (const status of statuses) expect([200, 413, 429]).toContain(status);

    let status = await send(envelope('{"event":"after","distinct_id":"d"}'));
    while (status === 429) status = await send(envelope('{"event":"after","distinct_id":"d"}'));
    expect(status).toBe(200);
    const peak = peakMb(child.pid);
    if (peak !== undefined) expect(peak).toBeLessThan(PEAK_MB);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
  180_000,
);

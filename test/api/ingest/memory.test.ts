import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Build, buildTree } from '../../support/build.ts';

/** A flood against the compiled API in a process of its own, with the heap of a small container. */
const HEAP_MB = 1024;
/** Heap, bodies held, and the embedded database. */
const PEAK_MB = 2000;
const MB = 1_000_000;
const KEY = 'phc_flood';

let build: Build;
let dataDir: string;
beforeAll(async () => {
  build = buildTree();
  dataDir = await mkdtemp(join(tmpdir(), 'backhaul-flood-'));
});
afterAll(async () => {
  await build.remove();
  await rm(dataDir, { recursive: true, force: true });
});

async function start() {
  const program = `
    import pino from 'pino';
    const { startApi } = await import(${JSON.stringify(pathToFileURL(build.path('src/api/server.js')).href)});
    const api = await startApi({
      dataDir: ${JSON.stringify(dataDir)}, port: 0, log: pino({ level: 'silent' }), requestTimeoutMs: 20_000,
      bootstrap: { projectKey: '${KEY}', personalKey: 'phx_flood' },
    });
    console.log(api.url);
    process.once('SIGTERM', () => api.close());
  `;
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MB}`, '--input-type=module', '--eval', program],
    { cwd: fileURLToPath(new URL('../../..', import.meta.url)), stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { child, url };
}

/** Most memory that the process ever had, where the system tells. */
function peakMb(pid: number | undefined): number | undefined {
  const path = `/proc/${pid}/status`;
  const line = existsSync(path) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
  return line === undefined ? undefined : Number(line) / 1024;
}

test('a flood of the worst that may be sent is answered within the memory of a small container', async () => {
  const { child, url } = await start();
  const ended = once(child, 'exit');
  const send = async (body: string | Buffer) => {
    const response = await fetch(`${url}/batch/`, {
      method: 'POST',
      body: typeof body === 'string' ? body : new Uint8Array(body),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const envelope = (items: string) => `{"api_key":"${KEY}","batch":[${items}]}`;
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
  const bodies = [tiny, fat, objects, bomb, tiny, fat, objects, bomb, tiny, fat, objects, bomb];
  const statuses = await Promise.all(bodies.map(send));
  for (const socket of holders) socket.destroy();
  for (const status of statuses) expect([200, 413, 429]).toContain(status);

  let status = await send(envelope('{"event":"after","distinct_id":"d"}'));
  while (status === 429) status = await send(envelope('{"event":"after","distinct_id":"d"}'));
  expect(status).toBe(200);
  const peak = peakMb(child.pid);
  if (peak !== undefined) expect(peak).toBeLessThan(PEAK_MB);
  child.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
}, 180_000);

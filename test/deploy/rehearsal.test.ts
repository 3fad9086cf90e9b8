import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedisServer } from '../../src/embedded/find-redis-server.ts';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { loadLastRun } from '../../src/state/schedules/runs.ts';
import { createS3Staging } from '../../src/state/staging/s3.ts';
import { createS3Bucket } from '../../src/state/staging/s3-bucket.ts';
import { killAllBackhaul, parseReport, startBackhaul } from '../support/backhaul-process.ts';
import { createEnvLab, parseEnv, readCompose, readText, switchOn } from '../support/compose.ts';
import { ALL } from '../support/form.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { setDaysAgo } from '../support/schedule-clock.ts';
import { until } from '../support/until.ts';
import { createWorkplace } from '../support/workplace.ts';

/*
 * The commands, settings and health checks of docker-compose.yml, with the .env that deploy/make-env.sh writes, run
 * as processes of this machine: only addresses, ports and folders are replaced.
 */

const run = promisify(execFile);
const workplace = createWorkplace();
const lab = createEnvLab();
const s3 = ALL ? await startRadosgw() : undefined;
const postgres = ALL ? await startPostgres() : undefined;
let queue: ChildProcess | undefined;

afterAll(async () => {
  await killAllBackhaul();
  queue?.kill('SIGKILL');
  await Promise.all([s3?.stop(), postgres?.stop(), workplace.remove()]);
  lab.remove();
});

/** As Docker Compose has it: the services by their names; here each has a port of 127.0.0.1. */
async function createNatively(name: string, hasServer: boolean) {
  const dataDir = hasServer ? workplace.dataDir(name) : await workplace.readyDataDir(name);
  const [queuePort, apiPort, workerPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const toNative = (value: string) =>
    value
      .replace(/^\/data$/, dataDir)
      .replace('@queue:6379', `@127.0.0.1:${queuePort}`)
      .replace('http://api:8000', `http://127.0.0.1:${apiPort}`)
      .replace('http://object-store:9000', s3?.endpoint ?? '')
      .replace(/^postgres:.*@database:5432\/.*$/, postgres?.url ?? '')
      .replace('/rehearsal/', join(process.cwd(), 'deploy/rehearsal/'))
      .replace('/exports/', join(workplace.folder, '/'))
      .replace('0.0.0.0', '127.0.0.1')
      .replace(/(^|127\.0\.0\.1:)8000\b/, `$1${apiPort}`)
      .replace(/(^|127\.0\.0\.1:)8001\b/, `$1${workerPort}`);
  return { dataDir, queuePort, toNative };
}

type Environment = Readonly<Record<string, string>>;

async function start(name: string, variables: Environment) {
  const { services } = readCompose(variables);
  const { dataDir, queuePort, toNative } = await createNatively(name, 'DATABASE_URL' in variables);
  const getService = (service: string) => {
    const found = services[service];
    if (found === undefined) throw new Error(`docker-compose.yml has no service ${service}`);
    const env = Object.entries(found.environment).map(([key, value]) => [key, toNative(value)] as const);
    return { ...found, env: Object.fromEntries(env) };
  };
  const backhaul = (service: string, args = getService(service).command ?? [], more: Environment = {}) =>
    startBackhaul(args.map(toNative), { dataDir, env: { ...getService(service).env, ...more } });
  /** Exit code of its health check. */
  const check = async (service: string): Promise<number> => {
    const [kind, program = '', ...args] = getService(service).healthcheck?.test ?? [];
    expect(kind).toBe('CMD');
    return run(program, args.map(toNative)).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );
  };
  /** Asks what the check asks, and then runs the check. */
  const untilHealthy = async (service: string) => {
    const [url = ''] = /http:[^']+/.exec(toNative(getService(service).healthcheck?.test.at(-1) ?? '')) ?? [];
    const ask = () =>
      fetch(url).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      );
    await until(`${service} to be healthy`, ask);
    expect(await check(service)).toBe(0);
  };

  const [, ...queueArgs] = getService('queue').command ?? [];
  const { command } = await findRedisServer();
  const place = ['--port', String(queuePort), '--bind', '127.0.0.1', '--dir', workplace.folder];
  queue = spawn(command, [...queueArgs, ...place], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  queue.stdout?.on('data', (text: string) => {
    said += text;
  });
  await until('the queue', () => said.includes('Ready to accept connections') || undefined);
  return { backhaul, check, untilHealthy, getService };
}

async function rehearse({ backhaul, untilHealthy }: Awaited<ReturnType<typeof start>>) {
  backhaul('api');
  await untilHealthy('api');
  const worker = backhaul('worker');
  await untilHealthy('worker');
  const ended = await backhaul('worker', ['run', '/rehearsal/move.yaml', '--json']).ended;
  expect(ended.code, ended.stderr).toBe(0);
  expect(parseReport(ended).counts).toMatchObject({ read: 10, delivered: 10 });
  return worker;
}

/** The scheduled backfill of docs/deployment.md, with its manifest and its commands, by the API and two workers. */
async function schedule({ backhaul, getService }: Awaited<ReturnType<typeof start>>) {
  const guide = readText('docs/deployment.md');
  const section = guide.slice(
    guide.indexOf('### A scheduled backfill'),
    guide.indexOf('## Several machines'),
  );
  const [, manifest = ''] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  writeFileSync(join(workplace.folder, 'daily.yaml'), manifest);
  const { env } = getService('worker');
  const keys = {
    endpoint: env['BACKHAUL_S3_ENDPOINT'] ?? '',
    accessKeyId: env['BACKHAUL_S3_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: env['BACKHAUL_S3_SECRET_ACCESS_KEY'] ?? '',
  };
  const bucket = createS3Bucket({ ...keys, bucket: 'backhaul' });
  const addDay = async (day: number) => {
    const events = [1, 2].map((n) => ({
      uuid: randomUUID(),
      event_type: 'Opened',
      event_time: `2024-02-0${day} 0${n}:00:00`,
      user_id: `user-${n}`,
    }));
    const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    await bucket.put(`exports/${day}.json.gz`, gzipSync(lines));
  };

  await addDay(1);
  const said = new Map<string, string>();
  for (const [, line = ''] of section.matchAll(/^docker compose run --rm worker (.*)$/gm)) {
    const { code, stdout, stderr } = await backhaul('worker', [...line.split(' '), '--json']).ended;
    expect([line, code], stderr).toEqual([line, 0]);
    said.set(line.split(' ')[1] ?? '', stdout);
  }
  expect(JSON.parse(said.get('set') ?? '')).toMatchObject({ state: 'active', timezone: 'Europe/Berlin' });
  expect(JSON.parse(said.get('run') ?? '')).toMatchObject({ outcome: 'done', files: 1 });
  expect(JSON.parse(said.get('ls') ?? '')).toMatchObject([{ migration: 'daily', lastRun: { files: 1 } }]);
  expect(JSON.parse(said.get('coverage') ?? '')).toMatchObject({
    days: [{ day: '2024-02-01', counts: { delivered: 2 } }],
  });

  const staging = createS3Staging({ ...keys, bucket: 'backhaul', prefix: 'staging' });
  await staging.remove('_schedules/daily/runs/00000001.json');
  for (const day of [2, 3]) await addDay(day);
  await setDaysAgo(staging, 'daily', 3);
  // Each container has a port of its own.
  backhaul('worker', undefined, { BACKHAUL_WORKER_PORT: '' });
  const { run: caughtUp } = await until(
    'the run of what was missed',
    async () => {
      const last = await loadLastRun(staging, 'daily');
      return last.run ? last : undefined;
    },
    120_000,
  );
  expect(caughtUp).toMatchObject({ outcome: 'done', files: 2, missed: 2 });
  const report = backhaul('worker', ['report', 'daily', '--json']);
  expect(parseReport(await report.ended).counts).toMatchObject({ read: 6, delivered: 6, duplicate: 0 });
}

it('docker-compose.yml rehearses with the .env that the script writes, and notices a queue that is away', async () => {
  lab.make();
  const place = await start('compose', parseEnv(lab.read()));
  const worker = await rehearse(place);
  queue?.kill('SIGKILL');
  if (queue) await once(queue, 'exit');
  expect(await Promise.all([place.check('worker'), place.check('api')])).toEqual([1, 1]);
  expect(worker.isRunning()).toBe(true); // it waits for the queue, and is not restarted
  await killAllBackhaul();
}, 300_000);

describe.runIf(s3 !== undefined && postgres !== undefined)('with the profiles postgres and s3', () => {
  beforeAll(() => {
    queue?.kill('SIGKILL');
  });

  it('makes the bucket, and rehearses', async () => {
    const on = switchOn(lab.read(), (line) => !/your-bucket|S3_REGION|WEBHOOK|KEEP_DAYS/.test(line));
    const keys = [
      `OBJECT_STORE_ACCESS_KEY=${s3?.accessKeyId}`,
      `OBJECT_STORE_SECRET_KEY=${s3?.secretAccessKey}`,
    ];
    const given = on.replace(/^OBJECT_STORE_ACCESS_KEY=.*\nOBJECT_STORE_SECRET_KEY=.*$/m, keys.join('\n'));
    const place = await start('profiles', parseEnv(given));
    const { entrypoint = [], command = [], env } = place.getService('bucket');
    const [program = '', ...args] = [...entrypoint, ...command];
    for (const _twice of [1, 2]) await run(program, args, { env: { PATH: process.env['PATH'], ...env } });
    await rehearse(place);
    await schedule(place);
  }, 300_000);
});

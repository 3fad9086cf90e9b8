import { type ExecFileException, execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../src/embedded/free-port.ts';
import { loadLastRun } from '../../src/state/schedules/runs.ts';
import { createS3Staging } from '../../src/state/staging/s3.ts';
import { createS3Bucket } from '../../src/state/staging/s3-bucket.ts';
import { type BackhaulProcess, killAllBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { readText, switchOn } from '../support/compose.ts';
import { ALL } from '../support/form.ts';
import { isInstall, listGuideCommands } from '../support/guide-commands.ts';
import { toWords } from '../support/parse-command.ts';
import { startPostgres } from '../support/postgres.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { startRedis } from '../support/redis.ts';
import { setDaysAgo } from '../support/schedule-clock.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { getArguments, parseEnvironmentFile, readUnit } from '../support/systemd.ts';
import { until } from '../support/until.ts';
import { createWorkplace } from '../support/workplace.ts';

/**
 * "One server without containers" of docs/deployment.md, with PostgreSQL and S3: its files are installed below a folder
 * in place of the root, by its own lines; what systemd starts is started as the units say; and its commands are run by
 * the command that it installs. test/deploy/guide.test.ts lists the lines that need root.
 */
const run = promisify(execFile);
const s3 = ALL ? await startRadosgw() : undefined;
const postgres = ALL ? await startPostgres() : undefined;
afterAll(() => Promise.all([s3?.stop(), postgres?.stop()]));
afterEach(killAllBackhaul);

const KEY = 'phc_server';
const BUCKET = 'backhaul';
const ROOTED = /(^|=)\/(?=(etc|opt|srv|usr|var)\/)/;

type Replacement = readonly [from: string, to: string];
const replaceAll = (text: string, all: readonly Replacement[]): string =>
  all.reduce((result, [from, to]) => {
    expect(result).toContain(from);
    return result.replaceAll(from, to);
  }, text);

/** The files of the guide, in a folder in place of the root and for the user who runs the test. */
async function install(root: string, settings: readonly Replacement[]) {
  const at = (path: string) => join(root, path);
  for (const folder of [
    'usr/local/bin',
    'etc/systemd/system',
    'opt/backhaul/bin',
    'srv/exports',
    'var/lib/backhaul',
  ])
    mkdirSync(at(folder), { recursive: true });
  for (const line of listGuideCommands().filter(isInstall)) {
    const [, program = '', ...words] = toWords(line.replace(' --group backhaul', ''));
    await run(
      program,
      words.map((word) => word.replace(ROOTED, `$1${root}/`)),
    );
  }
  symlinkSync(resolve('src/setup/backhaul.mjs'), at('opt/backhaul/bin/backhaul'));

  const command = at('usr/local/bin/backhaul');
  const rewrite = (path: string, all: readonly Replacement[]) =>
    writeFileSync(path, replaceAll(readFileSync(path, 'utf8'), all));
  rewrite(command, [
    ['!= backhaul', `!= ${userInfo().username}`],
    ['/etc/backhaul', at('etc/backhaul')],
    ['/opt/backhaul', at('opt/backhaul')],
  ]);
  const file = at('etc/backhaul/backhaul.env');
  writeFileSync(
    file,
    switchOn(readFileSync(file, 'utf8'), (line) => !/WEBHOOK|HASH_KEY|S3_REGION/.test(line)),
  );
  rewrite(file, [['/var/lib/backhaul', at('var/lib/backhaul')], ...settings]);

  const env = { PATH: [dirname(command), process.env['PATH']].join(delimiter), HOME: root };
  return {
    at,
    variables: parseEnvironmentFile(readFileSync(file, 'utf8')),
    /** Runs a line of the guide in a shell. */
    async run(line: string): Promise<string> {
      const ended = await run('sh', ['-c', line.replaceAll('/srv/', `${at('srv')}/`)], {
        cwd: root,
        env,
      }).catch((error: ExecFileException) => {
        throw new Error(`${line}\n${error.stdout}\n${error.stderr}`);
      });
      return ended.stdout + ended.stderr;
    },
  };
}

type Server = Awaited<ReturnType<typeof install>>;

/** As systemd starts it; the port of a worker is that of its unit, or a free one where that is taken. */
function start({ at, variables }: Server, unit: string, more: Record<string, string> = {}): BackhaulProcess {
  return startBackhaul(getArguments(readUnit(unit)), {
    dataDir: variables['BACKHAUL_DATA_DIR'] ?? '',
    cwd: at('var/lib/backhaul'),
    env: { ...variables, ...more },
  });
}

const isReady = (port: string) =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok || undefined,
    () => undefined,
  );

const toEvents = (day: number): Buffer =>
  gzipSync(
    [1, 2]
      .map((n) => ({ event_type: 'Opened', event_time: `2024-02-0${day} 0${n}:00:00`, user_id: `user-${n}` }))
      .map((event) => `${JSON.stringify({ uuid: randomUUID(), ...event })}\n`)
      .join(''),
  );

describe.runIf(s3 !== undefined && postgres !== undefined)('a server without containers', () => {
  it('runs a migration and a scheduled backfill, with two workers, PostgreSQL and S3', async () => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const destination = await startStrictDestination({ apiKey: KEY });
    onTestFinished(() => destination.stop());
    await s3?.createBucket(BUCKET);
    const bucket = createS3Bucket({ ...pickKeys(s3), bucket: BUCKET });
    const port = String(await findFreePort());
    const server = await install(workplace.folder, [
      ['redis://127.0.0.1:6379', redis.url],
      ['=8000', `=${port}`],
      // Sockets have other characters in their address than the shell takes without quotes.
      ['postgres://backhaul:PASSWORD@127.0.0.1:5432/backhaul', `'${postgres?.url}'`],
      ['s3://your-bucket/', `s3://${BUCKET}/`],
      ['https://s3.example.com', s3?.endpoint ?? ''],
      ['=ACCESS_KEY_ID', `=${s3?.accessKeyId}`],
      ['=SECRET', `=${s3?.secretAccessKey}`],
      ['PROJECT_API_KEY=KEY', `PROJECT_API_KEY=${KEY}`],
    ]);

    const serving = start(server, 'backhaul-serve.service');
    const ports = [String(await findFreePort()), String(await findFreePort())];
    const workers = ports.map((own) =>
      start(server, 'backhaul-worker@.service', { BACKHAUL_WORKER_PORT: own }),
    );
    for (const each of [port, ...ports]) await until(`${each} to be ready`, () => isReady(each), 120_000);

    writeFileSync(server.at('srv/exports/a.json.gz'), toEvents(9));
    const move = {
      name: 'move',
      source: { type: 'amplitude', from: 'a.json.gz' },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
    };
    writeFileSync(server.at('srv/exports/move.yaml'), JSON.stringify(move));
    const [, daily = ''] = /```yaml\n(name: daily[\s\S]*?)```/.exec(readText('docs/deployment.md')) ?? [];
    writeFileSync(server.at('srv/exports/daily.yaml'), daily);
    await bucket.put('exports/1.json.gz', toEvents(1));

    const lines = listGuideCommands().filter((line) => line.startsWith('backhaul '));
    expect(lines).toHaveLength(4);
    const said = new Map<string, string>();
    for (const line of lines) said.set(line, await server.run(line));
    expect(said.get('backhaul doctor')).not.toContain('✗');
    expect([...destination.events().values()].filter(({ event }) => event === 'Opened')).toHaveLength(2);
    expect(said.get('backhaul schedule ls')).toContain('daily');

    const staging = createS3Staging({ ...pickKeys(s3), bucket: BUCKET, prefix: 'backhaul' });
    await setDaysAgo(staging, 'daily', 3);
    const caughtUp = await until(
      'one of them to run what was missed',
      async () => (await loadLastRun(staging, 'daily')).run,
      120_000,
    );
    expect(caughtUp).toMatchObject({ outcome: 'done', files: 1, missed: 2 });
    const report = JSON.parse((await server.run('backhaul report daily --json')).trim());
    expect(report.counts).toMatchObject({ read: 2, delivered: 2 });

    for (const each of [...workers, serving]) {
      expect(each.isRunning(), each.stderr()).toBe(true);
      each.kill('SIGTERM');
      expect((await each.ended).code).toBe(0);
    }
  }, 300_000);
});

const pickKeys = (server: typeof s3) => ({
  endpoint: server?.endpoint ?? '',
  accessKeyId: server?.accessKeyId ?? '',
  secretAccessKey: server?.secretAccessKey ?? '',
});

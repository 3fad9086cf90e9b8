import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { generateAmplitudeExport } from '../../src/demo/generate-amplitude-export.ts';
import { listDocumented, readManifest } from '../docs/commands.ts';
import {
  type BackhaulOptions,
  killAllBackhaul,
  startBackhaul,
  waitForServices,
} from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { toWords } from '../support/parse-command.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

/*
 * Every command of the documentation as it is written, in an order in which somebody may run them, each as a process
 * of its own in the folder of the manifest. A command that no story runs fails the last test.
 */
const TIMEOUT_MS = 300_000;
const KEY = 'phc_documented';
/** Ask a service of others; test/migrations/verify/query-counts.test.ts asks a stand-in. */
const NOT_RUN = ['verify exports --project 3', 'verify exports --api-url https://eu.example.com'];
const ran = new Set<string>(NOT_RUN);

interface Place {
  readonly folder: string;
  readonly dataDir: string;
  /** Runs a command to its end and expects its exit code. Returns what it printed. */
  run(command: string, code?: number): Promise<string>;
  /** Starts one that runs until it is stopped. */
  start(command: string): ReturnType<typeof startBackhaul>;
}

afterEach(killAllBackhaul);

function createPlace(workplace: Workplace, dataDir: string, env: Record<string, string> = {}): Place {
  const { folder } = workplace;
  const options: BackhaulOptions = { dataDir, cwd: folder, env: { BACKHAUL_PROJECT_API_KEY: KEY, ...env } };
  const start = (command: string) => {
    ran.add(command);
    return startBackhaul(toWords(command), options);
  };
  return {
    folder,
    dataDir,
    start,
    async run(command, code = 0) {
      const ended = await start(command).ended;
      expect(ended.code, `${command}\n${ended.stdout}\n${ended.stderr}`).toBe(code);
      return ended.stdout + ended.stderr;
    },
  };
}

function openWorkplace(): Workplace {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  return workplace;
}

async function startDestination() {
  const destination = await startStrictDestination({ apiKey: KEY });
  onTestFinished(() => destination.stop());
  return destination;
}

async function writeExport({ folder }: Workplace, seed = 1): Promise<void> {
  mkdirSync(join(folder, 'exports'), { recursive: true });
  const file = join(folder, 'exports', seed === 1 ? 'amplitude-export.zip' : `more-${seed}.zip`);
  await generateAmplitudeExport(file, { seed, events: 600, persons: 40 });
}

const ACCEPTS_ALL = 'rejects: { failAbove: 100% }\n';

describe.runIf(ALL)('documented commands', () => {
  it(
    'look at an export, rehearse it, operate it and remove it',
    async () => {
      const workplace = openWorkplace();
      await writeExport(workplace);
      const { folder } = workplace;
      const place = createPlace(workplace, await workplace.readyDataDir('rehearsal'));
      const { run } = place;
      const file = (name: string) => join(folder, name);

      await run('init exports --out migration.yaml');
      expect(readFileSync(file('migration.yaml'), 'utf8')).toContain(
        readManifest('quick-start.md', 'exports'),
      );
      expect(await run('init exports')).toContain('Written: exports.yaml');
      await run('init exports --out other.yaml');
      await run('doctor');
      await run('doctor migration.yaml');
      await run('doctor migration.yaml --send-probe');
      await run('plan migration.yaml');
      await run('plan migration.yaml --full --html plan.html');
      expect(existsSync(file('plan.html'))).toBe(true);
      appendFileSync(file('migration.yaml'), ACCEPTS_ALL);
      await run('run migration.yaml');
      for (const look of ['status', 'status exports', 'status exports --watch', 'report exports'])
        expect(await run(look)).toContain('exports');
      expect(await run('report exports --json')).toContain('"read":600');
      await run('rejects ls exports');
      await run('rejects show exports --reason bad_timestamp --limit 1');

      await run('verify exports');
      await run('verify exports --html comparison.html');
      expect(existsSync(file('comparison.html'))).toBe(true);
      writeFileSync(file('vendor.csv'), 'day,event,count\n2023-11-03,$pageview,1\n');
      // A vendor who counted one event: nothing explains that.
      await run('verify exports --counts vendor.csv', 6);
      expect(await run('verify exports --counts vendor.csv --json', 6)).toContain('2023-11-03');
      await run('rehearse migration.yaml --sample 1000');
      await run('rehearse migration.yaml');

      // What is finished has nothing to stop; saying so is an answer.
      for (const command of ['resume exports', 'resume --accept-refusals exports']) await run(command);
      for (const command of ['pause exports', 'cancel exports'])
        expect(await run(command, 2)).toContain('is finished');
      expect(await run('persons send exports', 2)).toContain('holds no persons');
      await writeExport(workplace, 2);
      expect(await run('run migration.yaml', 2)).toContain('--top-up');
      await run('run migration.yaml --top-up');
      expect(await run('report exports --json')).toContain('"read":1200');
      copyFileSync(file('migration.yaml'), file('corrected.yaml'));
      await run('rejects replay exports --manifest corrected.yaml');
      expect(await run('rejects ls exports')).toContain('replayed by exports.replay-1');
      await run('rejects replay exports');
      await run('rejects replay exports.replay-1 --manifest corrected.yaml');
      await run('rejects replay exports --again');
      await run('verify exports');

      appendFileSync(file('migration.yaml'), 'schedule: { cron: "0 6 * * *", timezone: Europe/Berlin }\n');
      await run('schedule set migration.yaml');
      expect(await run('schedule ls')).toContain('exports');
      await run('schedule run exports');
      await run('schedule coverage exports');
      const serving = place.start('serve');
      const { api } = await waitForServices(place.dataDir, serving);
      expect((await fetch(new URL('/healthz', api?.url))).status).toBe(200);
      await until('it to listen for signals', () => /Ctrl-C stops it/.test(serving.stderr()) || undefined);
      serving.kill('SIGINT');
      expect((await serving.ended).code).toBe(0);
      await run('schedule rm exports');

      await run('rm exports --keep-rejects');
      expect(await run('rejects ls exports')).toContain('bad_timestamp');
      await run('rm exports');
      await run('rm exports --forget');
      expect(await run('rm old-exports --forget', 2)).toContain('old-exports');
    },
    TIMEOUT_MS,
  );

  it(
    'send a migration, and move it to another machine',
    async () => {
      const workplace = openWorkplace();
      await writeExport(workplace);
      const destination = await startDestination();
      const here = createPlace(workplace, workplace.dataDir('old'));
      const there = createPlace(workplace, workplace.dataDir('new'));
      const write = (name: string) => {
        const text = readManifest('quick-start.md', 'exports-live')
          .replace('name: exports-live', `name: ${name}`)
          .replace('https://analytics.example.com', destination.url);
        for (const file of ['migration.yaml', 'live.yaml'])
          writeFileSync(join(workplace.folder, file), text + ACCEPTS_ALL);
      };
      write('exports-live');
      const first = createPlace(workplace, workplace.dataDir('first'));
      for (const command of ['doctor live.yaml', 'plan live.yaml', 'run live.yaml']) await first.run(command);
      write('exports');
      await here.run('run migration.yaml');
      const arrived = destination.events().size;
      expect(arrived).toBeGreaterThan(100);

      await here.run('state export exports --to exports.tar.gz');
      expect(await here.run('resume exports', 2)).toContain('take-back');
      await here.run('state take-back exports');
      await here.run('resume exports');
      write('web');
      await here.run('run migration.yaml');
      await here.run('state export exports web --to both.tar.gz');
      copyFileSync(join(workplace.folder, 'both.tar.gz'), join(workplace.folder, 'exports.tar.gz'));
      await there.run('state import exports.tar.gz');
      await there.run('resume exports');
      expect(await there.run('report exports --json')).toContain('"read":600');
      expect(destination.events().size).toBe(arrived);
    },
    TIMEOUT_MS,
  );

  it(
    'send the persons of held migrations together, while a worker runs',
    async () => {
      const workplace = openWorkplace();
      await writeExport(workplace);
      const destination = await startDestination();
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const place = createPlace(workplace, workplace.dataDir('held'), { REDIS_URL: redis.url });
      const names = ['web-2022', 'web-2023', 'web-2024'];
      for (const name of names) {
        const text = readManifest('quick-start.md', 'exports-live')
          .replace('name: exports-live', `name: ${name}`)
          .replace('https://analytics.example.com', destination.url);
        writeFileSync(join(workplace.folder, 'migration.yaml'), `${text}${ACCEPTS_ALL}persons: hold\n`);
        await place.run('run migration.yaml');
      }
      const isAboutPersons = ({ event }: { readonly event: string }) => event === '$identify';
      expect([...destination.events().values()].some(isAboutPersons)).toBe(false);
      const worker = place.start('worker');
      await place.run(`persons send ${names.join(' ')}`);
      expect([...destination.events().values()].some(isAboutPersons)).toBe(true);
      worker.kill('SIGTERM');
      expect((await worker.ended).code).toBe(0);
    },
    TIMEOUT_MS,
  );

  const orders = Array.from({ length: 40 }, (_, index) => ({
    id: `${index}`,
    event: 'Paid',
    user_id: `u-${index % 7}`,
    time: index === 39 ? 'soon' : `2023-03-14T09:26:${index + 10}Z`,
  }));
  const csv = [Object.keys(orders[0] ?? {}), ...orders.map((order) => Object.values(order))].join('\n');
  const jsonl = orders.map((order) => JSON.stringify(order)).join('\n');

  it.each([
    ['csv', csv],
    ['jsonl', jsonl],
  ])(
    'describe and import a table: %s',
    async (type, text) => {
      const workplace = openWorkplace();
      const { folder } = workplace;
      mkdirSync(join(folder, 'exports/orders'), { recursive: true });
      writeFileSync(join(folder, `exports/orders/2023.${type}`), text);
      const place = createPlace(workplace, await workplace.readyDataDir(type));
      await place.run('init exports/orders --out orders.yaml');
      appendFileSync(join(folder, 'orders.yaml'), ACCEPTS_ALL);
      copyFileSync(join(folder, 'orders.yaml'), join(folder, 'corrected.yaml'));
      await place.run('plan orders.yaml');
      await place.run('plan orders.yaml --full --html plan.html');
      await place.run('run orders.yaml');
      expect(await place.run('rejects ls orders')).toContain('bad_timestamp');
      await place.run('rejects replay orders --manifest corrected.yaml');
    },
    TIMEOUT_MS,
  );

  it('leave none out', () => {
    expect([...listDocumented()].filter((command) => !ran.has(command))).toEqual([]);
  });
});

afterAll(() => killAllBackhaul());

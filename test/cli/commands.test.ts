import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Ended,
  killAllBackhaul,
  parseReport,
  runBackhaul,
  startBackhaul,
  waitForServices,
} from '../support/backhaul-process.ts';
import { readyDataDir } from '../support/ready-data-dir.ts';

let folder: string;
let dataDir: string;
/** The run of `shop` that most tests look at. */
let shop: Ended;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-cli-'));
  dataDir = await readyDataDir(join(folder, 'data'));
  const rows = ['id,who,what,when', '1,ada,Signed up,2023-01-01 10:00:00', '2,ada,Paid,2023-01-02 10:00:00'];
  const awkward = ['3,,Paid,2023-01-02 11:00:00', '4,bob,Paid,03/01/2023'];
  await writeFile(join(folder, 'export.csv'), [...rows, ...awkward, ''].join('\n'));
  await writeFile(join(folder, 'shop.yaml'), manifest('shop', 'iso'));
  await writeFile(join(folder, 'planned.yaml'), manifest('planned', 'iso'));
  await writeFile(join(folder, 'repaired.yaml'), manifest('shop', 'dd/MM/yyyy'));
  // Every command attaches to this one's Redis and API, whose start costs more than the command.
  await waitForServices(dataDir, startBackhaul(['serve'], { dataDir }));
  shop = await backhaul('run', inFolder('shop.yaml'), '--json');
}, 300_000);
afterAll(async () => {
  await killAllBackhaul();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const manifest = (name: string, format: string, more = '') => `
name: ${name}
source:
  type: csv
  from: export.csv
  mapping:
    event: { column: what }
    distinctId: { column: who }
    timestamp: { column: when, format: "${format}" }
    key: [id]
${more}`;

const backhaul = (...args: string[]) => runBackhaul(args, { dataDir });
const inFolder = (name: string) => join(folder, name);
/** Everything in staging that has to do with the first part of a file. */
const listPartFiles = async () => {
  const staging = join(dataDir, 'staging');
  const entries = await readdir(staging, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files
    .map((entry) => relative(staging, join(entry.parentPath, entry.name)))
    .filter((name) => name.includes('00000'));
};

describe('the command line', () => {
  it('refuses a schedule of a migration that is another one, as run does', async () => {
    const path = inFolder('repaired.yaml');
    const [set, run] = await Promise.all([
      backhaul('schedule', 'set', path, '--cron', '0 6 * * *'),
      backhaul('run', path),
    ]);
    expect(set.code).toBe(2);
    expect(set.stderr).toContain('source.mapping.timestamp.format: was "iso", is now "dd/MM/yyyy"');
    expect(run.stderr).toContain(set.stderr.trim());
    const listed = await backhaul('schedule', 'ls', '--json');
    expect(listed.stdout).not.toContain('shop');
  });

  it('plans without sending, and with --full reports what a run would', async () => {
    const page = inFolder('planned.html');
    const ended = await backhaul('plan', inFolder('planned.yaml'), '--full', '--json', '--html', page);
    expect(ended.code, ended.stderr).toBe(3);
    const plan = JSON.parse(ended.stdout);
    expect(plan.records).toEqual({ count: 4, exact: true });
    expect(plan.full.report.counts).toMatchObject({ read: 4, delivered: 2, rejected: 2 });
    expect(plan.times).toMatchObject({ ofAll: true, byDay: [{ events: 1 }, { events: 1 }] });
    expect(plan.tooManyRejects).toMatch(/^2 of 4 records \(50%\) are rejected; above 1%/);
    expect(ended.stderr).toContain(plan.tooManyRejects);
    expect(await readFile(page, 'utf8')).toContain('2 of 4 records (50%) are rejected');
  });

  it('plans without the key of the destination, and says what it does not know then', async () => {
    const destination = 'destination: { url: "https://a.example.com", apiKey: "${NO_SUCH_KEY}" }';
    await writeFile(
      inFolder('keyless.yaml'),
      manifest('keyless', 'iso', `rejects: { failAbove: 2 }\n${destination}`),
    );
    const ended = await backhaul('plan', inFolder('keyless.yaml'), '--full', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout).warnings).toEqual([
      expect.stringContaining('The variable of destination.apiKey is not set'),
    ]);
    const run = await backhaul('run', inFolder('keyless.yaml'));
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('NO_SUCH_KEY') });
  });

  it('writes a page over no file of another kind', async () => {
    const ended = await backhaul('plan', inFolder('planned.yaml'), '--html', inFolder('planned.yaml'));
    expect(ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--html takes the path of a page'),
    });
    expect(await readFile(inFolder('planned.yaml'), 'utf8')).toContain('name: planned');
  });

  it('leaves nothing of plan --full for a run to meet, though the export changes in between', async () => {
    const path = inFolder('changing.csv');
    await writeFile(
      inFolder('changing.yaml'),
      manifest('changing', 'iso').replace('export.csv', 'changing.csv'),
    );
    const header = 'id,who,what,when';
    await writeFile(
      path,
      [header, '1,ada,Old,2023-01-01 10:00:00', '2,ada,Old,2023-01-01 10:00:00', ''].join('\n'),
    );
    const before = await listPartFiles();
    const planned = await backhaul('plan', inFolder('changing.yaml'), '--full', '--json');
    expect(JSON.parse(planned.stdout).full.report.byEvent).toHaveProperty('Old');
    expect(await listPartFiles()).toEqual(before);

    await writeFile(path, [header, '3,ada,New,2023-01-01 10:00:00', ''].join('\n'));
    const ended = await backhaul('run', inFolder('changing.yaml'), '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended).counts).toMatchObject({ read: 1, delivered: 1 });
    expect(Object.keys(parseReport(ended).byEvent)).toEqual(['New']);
  }, 60_000);

  it.each(['plan', 'run'])(
    '%s refuses a delimiter that the header does not bear, and begins nothing',
    async (command) => {
      const text = manifest('divided', 'iso').replace('type: csv', 'type: csv\n  delimiter: ";"');
      await writeFile(inFolder('divided.yaml'), text);
      const ended = await backhaul(command, inFolder('divided.yaml'));
      expect(ended.code, ended.stderr).toBe(2);
      expect(ended.stderr).toContain(
        'export.csv: the header row has no column "what", which mapping.event names',
      );
      expect(ended.stderr).toContain('is source.delimiter, ";", right? It looks divided by ",".');
      expect(await readdir(join(dataDir, 'staging'), { recursive: true })).not.toContainEqual(
        expect.stringContaining('divided'),
      );
    },
    60_000,
  );

  it('rejects in plan --full the same events as too large that a run would', async () => {
    await writeFile(
      inFolder('large.csv'),
      `id,who,what,when,text\n1,ada,Paid,2023-01-01 10:00:00,${'x'.repeat(70_000)}\n`,
    );
    const limits = 'limits: { batch: { bytes: 64KiB } }\nrejects: { failAbove: 100% }\n';
    const text = manifest('large', 'iso', limits).replace('export.csv', 'large.csv');
    await writeFile(inFolder('large.yaml'), text);
    const planned = await backhaul('plan', inFolder('large.yaml'), '--full', '--json');
    const ran = await backhaul('run', inFolder('large.yaml'), '--json');
    expect(parseReport(ran).byReason).toEqual({ event_too_large: 1 });
    expect(JSON.parse(planned.stdout).full.report.byReason).toEqual({ event_too_large: 1 });
  }, 60_000);

  it('refuses to start among parts that no migration made', async () => {
    await mkdir(join(dataDir, 'staging/left/parts/0123456789ab'), { recursive: true });
    await writeFile(join(dataDir, 'staging/left/parts/0123456789ab/00000.gz'), 'frames');
    await writeFile(inFolder('left.yaml'), manifest('left', 'iso'));
    const ended = await backhaul('run', inFolder('left.yaml'));
    expect(ended.code, ended.stderr).toBe(2);
    expect(ended.stderr).toContain('no migration "left"');
    expect(ended.stderr).toContain('remove the folder left/');
  }, 60_000);

  it('runs, and ends with 3 when more is rejected than the manifest allows', async () => {
    expect(shop.code, shop.stderr).toBe(3);
    expect(parseReport(shop)).toMatchObject({
      balanced: true,
      counts: { read: 4, delivered: 2, skipped: 0, duplicate: 0, rejected: 2 },
      byReason: { no_identity: 1, bad_timestamp: 1 },
    });
    const [, command] = /See them: (.*)/.exec(shop.stderr) ?? [];
    expect(command).toMatch(/^BACKHAUL_DATA_DIR=\S+ .*backhaul.* rejects ls shop$/);
  }, 60_000);

  it('lists no migrations where there are none, and says how one is started', async () => {
    const env = { BACKHAUL_STAGING: '', BACKHAUL_DATA_DIR: join(folder, 'nothing') };
    expect(await runBackhaul(['status', '--json'], { dataDir, env })).toMatchObject({
      code: 0,
      stdout: '[]\n',
    });
    const ended = await runBackhaul(['status'], { dataDir, env });
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('There are no migrations in') });
  }, 60_000);

  it('points to the schedules where these have started no migration yet', async () => {
    const env = { BACKHAUL_STAGING: '', BACKHAUL_DATA_DIR: join(folder, 'scheduled') };
    const there = (...args: string[]) => runBackhaul(args, { dataDir, env });
    const set = await there('schedule', 'set', inFolder('planned.yaml'), '--cron', '0 3 1 1 *');
    expect(set.code, set.stderr).toBe(0);
    const toSchedules = /There are no migrations in \S+ \S+ yet, but schedules.* schedule ls\n$/;
    expect((await there('status')).stdout).toMatch(toSchedules);
    expect((await there('status', '--watch')).stderr).toMatch(toSchedules);
    const named = await there('status', 'planned');
    expect(named).toMatchObject({ code: 2, stdout: '' });
    expect(named.stderr).toContain(
      'a schedule of that name is there, which has not run yet. "backhaul schedule ls"',
    );
    await there('schedule', 'rm', 'planned');
    expect((await there('status', 'planned')).stderr).toContain('there are none yet');
  }, 60_000);

  it('gives the same report again, from what staging holds', async () => {
    const ended = await backhaul('report', 'shop', '--json');
    expect(parseReport(ended).counts.read).toBe(4);
    const status = JSON.parse((await backhaul('status', 'shop', '--json')).stdout);
    expect(status).toMatchObject({ migration: 'shop', state: 'finished', counts: { read: 4 } });
  });

  it('ends with 1 where its output cannot be written, and runs on where nobody reads along', async () => {
    const file = await open(inFolder('export.csv'), 'r');
    const { fd } = file;
    const unwritten = await startBackhaul(['report', 'shop', '--json'], { dataDir, stdout: fd }).ended;
    const unread = await startBackhaul(['run', inFolder('shop.yaml'), '--json'], { dataDir, stderr: fd })
      .ended;
    await file.close();
    expect(unwritten).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The output could not be written \(EBADF/),
    });
    expect(unread.code).toBe(3);
    expect(parseReport(unread)).toEqual(parseReport(shop));
  });

  it('reports from the receipts as long as no run has come to its end', async () => {
    const stored = join(dataDir, 'staging/shop/reports');
    await rename(stored, `${stored}.away`);
    expect(parseReport(await backhaul('report', 'shop', '--json')).counts.read).toBe(4);
    await rename(`${stored}.away`, stored);
  });

  it('ends with 5 and the command that continues, when staging does not answer', async () => {
    const env = {
      BACKHAUL_STAGING: 's3://staging/test',
      BACKHAUL_S3_ENDPOINT: 'http://127.0.0.1:1',
      BACKHAUL_S3_REGION: 'test',
      BACKHAUL_S3_ACCESS_KEY_ID: 'id',
      BACKHAUL_S3_SECRET_ACCESS_KEY: 'key',
    };
    const ended = await runBackhaul(['resume', 'shop'], { dataDir, env });
    expect(ended.code, ended.stderr).toBe(5);
    expect(ended.stderr).toMatch(
      /Continue with: BACKHAUL_DATA_DIR=\S+ BACKHAUL_STAGING=s3:\S+ node \S+backhaul.mjs resume shop/,
    );
  }, 60_000);

  it('ends with 1 and one sentence for a receipt that is damaged, and with 5 for one that is missing', async () => {
    const [part = ''] = (await listPartFiles()).filter((name) => name.startsWith('shop/receipts/'));
    const receipt = join(dataDir, 'staging', part);
    const good = await readFile(receipt, 'utf8');
    await writeFile(receipt, good.slice(0, 40));
    for (const command of [
      ['rejects', 'ls', 'shop'],
      ['report', 'shop'],
    ]) {
      const ended = await backhaul(...command);
      expect(ended.code, ended.stderr).toBe(1);
      expect(ended.stderr).toMatch(
        /^folder \S+: shop\/receipts\/\S+ is not what Backhaul wrote there; .*\n$/,
      );
    }
    const listed = await backhaul('status');
    expect(listed.code, listed.stderr).toBe(1);
    expect(listed.stdout).toMatch(/shop: damaged\n {2}folder \S+: shop\/receipts\/\S+ is not what Backhaul/);
    await rm(receipt);
    await rm(join(dataDir, 'staging/shop/reports'), { recursive: true });
    expect((await backhaul('report', 'shop')).code).toBe(5);
    expect((await backhaul('run', inFolder('shop.yaml'))).code).toBe(3);
  }, 60_000);

  it('has doctor tell each check, as data too', async () => {
    const { healthy, checks } = JSON.parse(
      (await backhaul('doctor', inFolder('shop.yaml'), '--json')).stdout,
    );
    expect(healthy).toBe(true);
    expect(checks.map(({ name }: { name: string }) => name)).toEqual([
      'Node',
      'Redis',
      'data folder',
      'staging',
      'manifest',
      'source',
      'destination',
    ]);
    expect(checks[5].detail).toMatch(/^1 file, \d+ B$/);
  }, 60_000);

  it('has doctor say where the webhook is refused, without its address', async () => {
    const env = {
      BACKHAUL_WEBHOOK_URL: 'http://localhost:9/T0PS3CRET',
      BACKHAUL_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
    };
    const refused = await runBackhaul(['doctor'], { dataDir, env });
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stdout).toMatch(/^✗ webhook .*BACKHAUL_WEBHOOK_ALLOW_PRIVATE=true allows it/m);
    expect(refused.stdout).not.toMatch(/localhost|T0PS3CRET/);
    const allowed = { ...env, BACKHAUL_WEBHOOK_ALLOW_PRIVATE: 'true' };
    expect(await runBackhaul(['doctor'], { dataDir, env: allowed })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^✓ webhook /m),
    });
  }, 60_000);

  it('shows each reject with its line and its own text', async () => {
    const shown = await backhaul('rejects', 'show', 'shop', '--reason', 'bad_timestamp');
    expect(JSON.parse(shown.stdout)).toMatchObject({
      file: 'export.csv',
      line: 5,
      text: '4,bob,Paid,03/01/2023',
    });
    const listed = JSON.parse((await backhaul('rejects', 'ls', 'shop', '--json')).stdout);
    expect(listed.rejects).toHaveLength(2);
  });

  it('replays rejects with a corrected manifest, as a migration of its own', async () => {
    const ended = await backhaul(
      'rejects',
      'replay',
      'shop',
      '--reason',
      'bad_timestamp',
      '--manifest',
      inFolder('repaired.yaml'),
      '--json',
    );
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended)).toMatchObject({
      migration: 'shop.replay-1',
      balanced: true,
      counts: { read: 1, delivered: 1, rejected: 0 },
    });
  }, 60_000);

  it('resumes with the last limits, and prints them', async () => {
    const ended = await backhaul('resume', 'shop', '--json');
    expect(ended.code, ended.stderr).toBe(3);
    expect(ended.stderr).toContain(
      'Resuming shop with no limit of events a minute, 4 requests in flight, batches of 1,000 events.',
    );
  }, 60_000);

  it('prints a document when there is nothing to replay', async () => {
    const ended = await backhaul('rejects', 'replay', 'shop', '--reason', 'refused', '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toEqual({ migration: 'shop', replayed: 0, replays: [] });
  }, 60_000);

  it('refuses to continue under a changed manifest, says what differs, and leaves it be', async () => {
    const ended = await backhaul('run', inFolder('repaired.yaml'));
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('source.mapping.timestamp.format: was "iso", is now "dd/MM/yyyy"');
    expect(ended.stdout).toBe('');
  }, 60_000);

  it('refuses what the contract wants approved, with the request ready to paste', async () => {
    const more =
      'destination: { url: "http://127.0.0.1:9", apiKey: "${KEY}" }\nlimits: { eventsPerMinute: 60000 }\n';
    await writeFile(inFolder('fast.yaml'), manifest('fast', 'iso', more));
    const ended = await runBackhaul(['run', inFolder('fast.yaml')], { dataDir, env: { KEY: 'phc_test' } });
    expect(ended.code).toBe(4);
    expect(ended.stderr).toContain('Data Management');
    expect(ended.stderr).not.toContain('phc_test');
  }, 60_000);

  it('keeps the keys of a data folder to its owner', async () => {
    const keys = JSON.parse(await readFile(join(dataDir, 'keys.json'), 'utf8'));
    expect(Object.keys(keys).sort()).toEqual(['personalKey', 'projectKey', 'queuesPassword']);
  });

  it.each([
    [['frobnicate'], 'unknown command'],
    [['run', 'nowhere.yaml'], 'There is no manifest at'],
    [['resume', 'nobody'], 'there is no migration "nobody"'],
    [['report', 'nobody'], 'there is no migration "nobody"'],
    [['pause', 'shop'], 'is finished'],
    [['rejects', 'show', 'shop', '--limit', '-1'], '--limit takes a whole number'],
    [['worker', '--concurrency', '0'], '--concurrency takes a whole number'],
  ])('ends %j with 2 and says why on stderr', async (args, message) => {
    const ended = await backhaul(...args);
    expect(ended.code, ended.stderr).toBe(2);
    expect(ended.stderr).toContain(message);
    expect(ended.stdout).toBe('');
  });

  it('removes a migration once, and says when it was where that is asked again', async () => {
    await writeFile(inFolder('spent.yaml'), manifest('spent', 'iso'));
    await backhaul('run', inFolder('spent.yaml'));
    expect((await backhaul('status', 'spent')).stdout).toContain('persons send spent <others>');
    const held = await backhaul('rm', 'spent');
    expect(held.code, held.stderr).toBe(2);
    expect(held.stderr).toContain('send them first with "backhaul persons send spent"');
    await backhaul('persons', 'send', 'spent');
    expect((await backhaul('rm', 'spent')).stdout).toMatch(/^spent is removed\. Its report/);
    const status = () => backhaul('status', 'spent', '--json');
    const { stdout: before } = await status();
    const again = await backhaul('rm', 'spent');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).toMatch(
      /^spent was removed already at \d{4}-\d\d-\d\d \d\d:\d\dZ; nothing was left/,
    );
    expect((await status()).stdout).toBe(before);
  }, 60_000);

  it('names the replays that stay of a migration that is removed, and how its entry goes', async () => {
    await backhaul('persons', 'send', 'shop');
    const removed = await backhaul('rm', 'shop');
    expect(removed.code, removed.stderr).toBe(0);
    expect(removed.stderr).toMatch(
      /^shop\.replay-1, a replay of it, stays\. To remove it: .* rm shop\.replay-1$/m,
    );
    expect(removed.stderr).toMatch(/merge nothing there: .* rm --forget shop$/m);
    await backhaul('rm', 'shop.replay-1');
    expect(JSON.parse((await backhaul('rm', 'shop', '--json')).stdout)).not.toHaveProperty('replays');
    const forgotten = await backhaul('rm', 'shop', '--forget', '--json');
    expect(JSON.parse(forgotten.stdout)).toMatchObject({ forget: true, replays: ['shop.replay-1'] });
  }, 60_000);
});

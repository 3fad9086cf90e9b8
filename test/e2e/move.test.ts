import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { compareSets, type EventSet, eventsAt, SAME } from '../support/event-set.ts';
import { API_KEY, createMachine, type Machine } from '../support/machines.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace, writeExports } from '../support/workplace.ts';

/** Each machine is a data folder with a Redis and a staging of its own; all of them send to one API. */
const TIMEOUT_MS = 180_000;
const FILES = 4;
const RECORDS = 600;
const NAME = 'moving';

let workplace: Workplace;
let manifest: string;
let reference: { readonly events: EventSet; readonly counts: object };

beforeAll(async () => {
  workplace = createWorkplace();
  await writeExports(workplace, { files: FILES, records: RECORDS });
  manifest = workplace.manifest({
    name: NAME,
    source: { type: 'amplitude', from: 'exports/*.zip' },
    rejects: { failAbove: '5%' },
    limits: { requestsInFlight: 1, batch: { events: 50 } },
  });
  const api = await startStrictDestination({ apiKey: API_KEY });
  const ended = await createMachine(workplace, 'reference', api).command('run', '--json', manifest);
  expect(ended.code, ended.stderr).toBe(0);
  reference = { events: eventsAt(api), counts: parseReport(ended).counts };
  await api.stop();
}, TIMEOUT_MS);
afterEach(killAllBackhaul);
afterAll(() => workplace.remove());

async function startApi(latencyMs = 0) {
  const api = await startStrictDestination({ apiKey: API_KEY, latencyMs });
  onTestFinished(() => api.stop());
  return api;
}

const countReceipts = ({ staging }: Machine) => {
  const folder = join(staging, NAME, 'receipts');
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.json')).length
    : 0;
};

describe('a migration that is moved', () => {
  it(
    'is killed, goes on at another machine from its checkpoints, and comes back with the file of that one',
    async () => {
      const api = await startApi(30);
      const [here, there] = [createMachine(workplace, 'here', api), createMachine(workplace, 'there', api)];
      const [away, back] = [join(workplace.folder, 'away.tar.gz'), join(workplace.folder, 'back.tar.gz')];
      const run = here.start('run', manifest);
      await until('a part that is done', () => countReceipts(here) > 0 || undefined, TIMEOUT_MS);
      const done = api.arrivals.length;
      await until('batches of the next part', () => api.arrivals.length > done + 4 || undefined, TIMEOUT_MS);
      api.setLatency(3_000); // the part stays in its middle for as long as the next command takes
      const busy = await here.command('state', 'export', NAME, '--to', away);
      expect(busy).toMatchObject({ code: 2 });
      expect(busy.stderr).toContain(`migration "${NAME}" is being run by process ${run.pid}`);
      run.kill('SIGKILL');
      await run.ended;
      api.setLatency(0);

      const exported = await here.command('state', 'export', NAME, '--to', away);
      expect(exported.code, exported.stderr).toBe(0);
      expect(statSync(away).mode & 0o777).toBe(0o600);
      const listed = execFileSync('tar', ['tzf', away], { encoding: 'utf8' }).split('\n');
      expect(listed).toContain(`_migrations/${NAME}.json`);
      expect(listed.filter((key) => key.startsWith(`${NAME}/checkpoints/`))).not.toEqual([]);
      expect(execFileSync('tar', ['xzOf', away], { encoding: 'latin1', maxBuffer: 1 << 28 })).not.toContain(
        API_KEY,
      );

      for (const args of [
        ['resume', NAME],
        ['run', manifest],
      ]) {
        const refused = await here.command(...args);
        expect(refused.code).toBe(2);
        expect(refused.stderr).toContain(`migration "${NAME}" was moved away (exported to ${away}`);
        expect(refused.stderr).toContain('backhaul state import');
      }
      expect((await here.command('status', NAME)).stdout).toContain(`${NAME}: moved`);

      const imported = await there.command('state', 'import', away);
      expect(imported.code, imported.stderr).toBe(0);
      expect((await there.command('status', NAME)).stdout).toContain(`${NAME}: stopped`);
      const sentBefore = api.requests.reduce((sum, { events }) => sum + events, 0);
      const resumed = await there.command('resume', '--json', NAME);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(parseReport(resumed)).toMatchObject({ balanced: true, problems: [], counts: reference.counts });
      expect(compareSets(eventsAt(api), reference.events)).toEqual(SAME);
      expect(api.conflicts).toEqual([]);
      const sentAfter = api.requests.reduce((sum, { events }) => sum + events, 0) - sentBefore;
      // At most the request in flight is sent again; a part that starts over would be more.
      expect(sentBefore + sentAfter).toBeLessThanOrEqual(reference.events.size + 2 * 50);

      expect((await there.command('state', 'export', NAME, '--to', back)).code).toBe(0);
      const home = await here.command('state', 'import', back);
      expect(home.code, home.stderr).toBe(0);
      const report = await here.command('report', '--json', NAME);
      expect(parseReport(report)).toMatchObject({ balanced: true, problems: [], counts: reference.counts });
      const stale = await there.command('state', 'import', away);
      expect(stale.code).toBe(2);
      expect(stale.stderr).toContain('the file is older than what was exported from');
      const again = await here.command('run', '--json', manifest);
      expect(again.code, again.stderr).toBe(0);
      expect(parseReport(again)).toMatchObject({ balanced: true, counts: reference.counts });
      expect(compareSets(eventsAt(api), reference.events)).toEqual(SAME);
    },
    TIMEOUT_MS,
  );

  it(
    'is taken back where its file was imported nowhere',
    async () => {
      const machine = createMachine(workplace, 'kept', await startApi());
      expect((await machine.command('run', manifest)).code).toBe(0);
      expect((await machine.command('state', 'take-back', NAME)).stderr).toContain('was not moved away');
      const file = join(workplace.folder, 'unused.tar.gz');
      expect((await machine.command('state', 'export', NAME, '--to', file)).code).toBe(0);
      expect((await machine.command('state', 'take-back', NAME)).stdout).toContain(
        `${NAME} can run here again`,
      );
      const ended = await machine.command('resume', '--json', NAME);
      expect(ended.code, ended.stderr).toBe(0);
      expect(parseReport(ended)).toMatchObject({ balanced: true, counts: reference.counts });
      const exists = await machine.command('state', 'export', NAME, '--to', file);
      expect(exists.stderr).toContain(`${file} exists already`);
    },
    TIMEOUT_MS,
  );
});

describe('a file that is not what was exported', () => {
  let file: string;
  let bytes: Buffer;
  let machine: Machine;
  beforeAll(async () => {
    const api = await startStrictDestination({ apiKey: API_KEY });
    const source = createMachine(workplace, 'damaged-source', api);
    expect((await source.command('run', manifest)).code).toBe(0);
    file = join(workplace.folder, 'whole.tar.gz');
    expect((await source.command('state', 'export', NAME, '--to', file)).code).toBe(0);
    bytes = readFileSync(file);
    machine = createMachine(workplace, 'damaged-target', api);
    await api.stop();
  }, TIMEOUT_MS);

  async function expectRefused(path: string, code: number, message: string) {
    const refused = await machine.command('state', 'import', path);
    expect(refused.code, refused.stderr).toBe(code);
    expect(refused.stderr).toContain(path);
    expect(refused.stderr).toContain(message);
    expect(refused.stderr).not.toMatch(/bug in Backhaul|\n {4}at /);
    expect(existsSync(machine.staging) ? readdirSync(machine.staging) : []).toEqual([]);
  }
  const write = (name: string, content: Buffer) => {
    const path = join(workplace.folder, name);
    writeFileSync(path, content);
    return path;
  };
  /** Unpacks the archive, lets `change` edit it, and packs it again in the same order. */
  function edit(name: string, change: (folder: string, keys: string[]) => string[]): string {
    const folder = join(workplace.folder, `${name}.unpacked`);
    mkdirSync(folder);
    execFileSync('tar', ['xzf', file, '-C', folder]);
    const keys = execFileSync('tar', ['tzf', file], { encoding: 'utf8' }).split('\n').filter(Boolean);
    const path = join(workplace.folder, name);
    const names = change(folder, keys);
    execFileSync('tar', ['czf', path, '--format=ustar', '-P', '-C', folder, ...names]);
    return path;
  }

  it('is refused when a byte of it changed', async () => {
    const changed = Buffer.from(bytes);
    const at = Math.floor(changed.length / 2);
    changed[at] = (changed[at] ?? 0) ^ 0x10;
    await expectRefused(write('changed.tar.gz', changed), 1, 'copy it again');
  });

  it('is refused when its end is missing', async () => {
    const path = write('short.tar.gz', bytes);
    truncateSync(path, bytes.length - 1000);
    await expectRefused(path, 1, 'is not imported');
  });

  it('is refused when an object of it was edited', async () => {
    const path = edit('edited.tar.gz', (folder, keys) => {
      const record = join(folder, `_migrations/${NAME}.json`);
      writeFileSync(record, readFileSync(record, 'utf8').replace('"amplitude', '"amplitudf'));
      return keys;
    });
    await expectRefused(path, 1, 'its contents are not those that it was written with');
  });

  it('is refused when an object is missing in it', async () => {
    const path = edit('missing.tar.gz', (_, keys) => keys.filter((key) => !key.includes('/receipts/')));
    await expectRefused(path, 1, 'its contents are not those that it was written with');
  });

  it('is refused when it would be written outside of its migrations', async () => {
    const path = edit('outside.tar.gz', (folder, keys) => {
      writeFileSync(join(folder, '../outside.txt'), 'x');
      return [keys[0] ?? '', '../outside.txt', ...keys.slice(1)];
    });
    await expectRefused(path, 1, '"../outside.txt" in it belongs to none of its migrations');
  });

  it('is refused when a newer version wrote it', async () => {
    const path = edit('newer.tar.gz', (folder, keys) => {
      const head = join(folder, 'backhaul-export.json');
      const document = JSON.parse(readFileSync(head, 'utf8'));
      writeFileSync(head, JSON.stringify({ ...document, format: 2, writtenBy: '9.0.0', more: true }));
      return keys;
    });
    await expectRefused(path, 1, 'version 9.0.0 of Backhaul wrote it');
  });

  it('is refused when it is something else, or nothing', async () => {
    await expectRefused(manifest, 1, 'it cannot be unpacked');
    await expectRefused(join(workplace.folder, 'none.tar.gz'), 2, 'cannot be read');
    await expectRefused(write('empty.tar.gz', Buffer.alloc(0)), 1, 'is not imported');
  });

  it('is refused where the bundled API is another one', async () => {
    writeFileSync(
      join(machine.dataDir, 'keys.json'),
      JSON.stringify({ projectKey: 'phc_other', personalKey: 'phx_other', queuesPassword: 'x' }),
    );
    await expectRefused(file, 2, 'are in the bundled API of another data folder');
  });

  it(
    'says what to do where the disk is full, and is imported with the same file once there is room',
    async ({ skip }) => {
      const api = await startApi();
      const [here, full] = [createMachine(workplace, 'roomy', api), createMachine(workplace, 'full', api)];
      const file = join(workplace.folder, 'full.tar.gz');
      mkdirSync(full.staging);
      const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full.staging]);
      skip(mount.status !== 0, 'needs the right to mount a small file system');
      onTestFinished(() => void spawnSync('umount', ['-l', full.staging]));
      const ended = await here.command('run', '--json', manifest);
      expect(ended.code, ended.stderr).toBe(0);
      expect((await here.command('state', 'export', NAME, '--to', file)).code).toBe(0);

      const stopped = await full.command('state', 'import', file);
      expect(stopped.code).toBe(2);
      expect(stopped.stderr).toMatch(/is full .*free some space/);
      expect(stopped.stderr).toMatch(/Not all is imported.*continue with: .*state import .*full\.tar\.gz/);
      execFileSync('mount', ['-o', 'remount,size=100m', full.staging]);
      const imported = await full.command('state', 'import', file);
      expect(imported.code, imported.stderr).toBe(0);
      expect((await full.command('status', NAME)).stdout).toContain(`${NAME}: finished`);
    },
    TIMEOUT_MS,
  );
});

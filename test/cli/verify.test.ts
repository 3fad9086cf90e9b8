import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Verification } from '../../src/migrations/verify/verify.ts';
import { createJsonlBench, line, NAME } from '../e2e/jsonl-bench.ts';
import {
  type Ended,
  killAllBackhaul,
  runBackhaul,
  startBackhaul,
  waitForServices,
} from '../support/backhaul-process.ts';
import { startQueryService } from '../support/query-service.ts';
import { createWorkplace } from '../support/workplace.ts';

afterEach(killAllBackhaul);

const PERSONAL = 'phx_verify_cli';

const parse = ({ stdout, stderr }: Ended): Verification => {
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Verification;
};
const rowsOf = ({ comparisons }: Verification, at: number, by: string) =>
  comparisons[at]?.tables.find((table) => table.by === by)?.rows ?? [];

describe('verify', () => {
  it('asks the bundled API, and finds an event too many', async () => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    const dataDir = await workplace.readyDataDir('verified');
    const backhaul = (...args: string[]) => runBackhaul(args, { dataDir });
    mkdirSync(join(workplace.folder, 'in'));
    writeFileSync(join(workplace.folder, 'in/a.json'), [line(1), line(2), line(2), 'broken', ''].join('\n'));
    const manifest = workplace.manifest({
      name: 'verified',
      source: {
        type: 'jsonl',
        from: 'in/*',
        mapping: {
          event: { column: 'e' },
          distinctId: { column: 'u' },
          timestamp: { column: 't' },
          key: ['n'],
        },
      },
      rejects: { failAbove: '50%' },
    });
    const { api } = await waitForServices(dataDir, startBackhaul(['serve'], { dataDir }));
    const ran = await backhaul('run', manifest);
    expect(ran.code, ran.stderr).toBe(0);

    const equal = await backhaul('verify', 'verified');
    expect(equal.code, equal.stderr).toBe(0);
    expect(equal.stdout).toContain('all events: report 2, destination 2');
    expect(equal.stdout).toContain('\nEqual.');
    const showPage = async () => {
      const { user, password } = api?.queues ?? { user: '', password: '' };
      const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
      const shown = await fetch(`${api?.url}/migrations/verified`, { headers: { authorization } });
      expect(shown.status).toBe(200);
      return shown.text();
    };
    expect(await showPage()).toContain('<span class="badge finished">equal</span> Compared at');

    const sent = await fetch(`${api?.url}/batch/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        api_key: api?.projectKey,
        historical_migration: true,
        batch: [
          {
            uuid: randomUUID(),
            event: 'unknown',
            timestamp: '2020-05-05T00:00:00Z',
            properties: { distinct_id: 'x', $import_job_id: 'verified' },
          },
        ],
      }),
    });
    expect(sent.status).toBe(200);
    const page = join(workplace.folder, 'page.html');
    const different = await backhaul('verify', 'verified', '--json', '--html', page);
    expect(different.code, different.stderr).toBe(6);
    const result = parse(different);
    expect(rowsOf(result, 0, 'day').filter(({ unexplained }) => unexplained !== 0)).toEqual([
      { key: '2020-05-05', old: 0, now: 1, causes: [], unexplained: 1 },
    ]);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('<tr class="unexplained"><th scope="row">2020-05-05</th>');
    expect(html).not.toContain(api?.personalKey ?? '');
    expect(different.stderr).toContain(page);
    // The last one takes the place of the one before.
    const shown = await showPage();
    expect(shown).toContain('<span class="badge damaged">different: nothing explains');
    expect(shown).toContain('<th scope="row">2020-05-05</th>');
    expect(shown).toContain('<code>backhaul verify verified</code>');
    expect(readdirSync(join(dataDir, 'staging/verified/verifications'))).toEqual(['00000002.json']);
  }, 120_000);

  it('asks the bundled API that a manifest names by address with the key of the data folder, and nobody else', async () => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    const dataDir = await workplace.readyDataDir('by-address');
    mkdirSync(join(workplace.folder, 'in'));
    writeFileSync(join(workplace.folder, 'in/a.json'), `${line(1)}\n${line(2)}\n`);
    const server = startBackhaul(['serve'], { dataDir });
    const { api } = await waitForServices(dataDir, server);
    const { url = '', projectKey = '', personalKey = '' } = api ?? {};
    const env = { KEY: projectKey };
    const manifest = workplace.manifest({
      name: 'by-address',
      source: {
        type: 'jsonl',
        from: 'in/*',
        mapping: {
          event: { column: 'e' },
          distinctId: { column: 'u' },
          timestamp: { column: 't' },
          key: ['n'],
        },
      },
      destination: { url: url.replace('127.0.0.1', 'localhost'), apiKey: '${KEY}' },
    });
    const backhaul = (...args: string[]) => runBackhaul(args, { dataDir, env });
    const ran = await backhaul('run', manifest);
    expect(ran.code, ran.stderr).toBe(0);
    const equal = await backhaul('verify', 'by-address');
    expect(equal.code, equal.stderr).toBe(0);
    expect(equal.stdout).toContain('all events: report 2, destination 2');

    // Whoever listens at that address once the API does not is sent no key.
    server.kill('SIGTERM');
    await server.ended;
    const asked: (string | undefined)[] = [];
    const stranger = createServer((request, response) => {
      asked.push(request.headers.authorization);
      response.end('{}');
    });
    stranger.listen(Number(new URL(url).port), '127.0.0.1');
    await once(stranger, 'listening');
    onTestFinished(() => void stranger.close());
    const gone = await backhaul('verify', 'by-address');
    expect(gone.code, gone.stderr).toBe(2);
    expect(gone.stderr).toContain('start it at that address with "backhaul serve", then verify again');
    expect(gone.stdout + gone.stderr).not.toContain(personalKey);
    expect(asked).toEqual([]);
  }, 120_000);

  it('asks a service with a personal key, counts replays, and explains the numbers of the vendor', async (context) => {
    const bench = await createJsonlBench(context);
    const service = await startQueryService({
      personalKey: PERSONAL,
      projectId: 3,
      projectKey: 'phc_e2e',
      events: () => bench.destination.events().values(),
    });
    onTestFinished(() => service.close());
    bench.put('a.json', `${line(1)}\n${line(2)}\n${line(2)}\n${line(3, { t: 'yesterday' })}\n`);
    const ran = await bench.run();
    expect(ran.code, ran.stderr).toBe(0);
    const day = [...bench.destination.events().values()][0]?.timestamp.slice(0, 10) ?? '';
    const name = [...bench.destination.events().values()][0]?.event ?? '';
    const vendor = join(bench.folder, 'vendor.csv');
    writeFileSync(vendor, `day,event,count,users\n${day},${name},4,3\n`);
    const env = { BACKHAUL_PROJECT_API_KEY: 'phc_e2e', BACKHAUL_PERSONAL_API_KEY: PERSONAL };
    const verify = (...args: string[]) =>
      runBackhaul(['verify', NAME, '--api-url', service.url, ...args], { dataDir: bench.dataDir, env });

    const explained = await verify('--counts', vendor, '--json');
    expect(explained.code, explained.stderr).toBe(0);
    const result = parse(explained);
    expect(result.comparisons[0]?.total).toEqual({ key: 'all', old: 2, now: 2, causes: [], unexplained: 0 });
    expect(rowsOf(result, 1, 'day')[0]?.causes.map(({ cause, count }) => [cause, count])).toEqual([
      ['duplicate', -1],
      ['no_day', -1],
    ]);
    expect(explained.stdout + explained.stderr).not.toContain(PERSONAL);

    // An event that the destination lost.
    const stored = bench.destination.events();
    const [lost = ''] = stored.keys();
    const kept = stored.get(lost);
    stored.delete(lost);
    const missing = await verify();
    expect(missing.code, missing.stderr).toBe(6);
    expect(missing.stdout).toContain('−1 UNEXPLAINED');
    expect(missing.stdout).toContain('DIFFERENT: ');
    if (kept) stored.set(lost, kept);

    writeFileSync(vendor, `day,event,count\n${day},${name},9\n`);
    const more = await verify('--counts', vendor, '--json');
    expect(more.code, more.stderr).toBe(6);
    expect(parse(more).comparisons[1]?.total.unexplained).toBeLessThan(0);
  }, 120_000);

  it('compares the numbers of the vendor alone without a personal key, and says what it needs without both', async (context) => {
    const bench = await createJsonlBench(context);
    bench.put('a.json', `${line(1)}\n`);
    const ran = await bench.run();
    expect(ran.code, ran.stderr).toBe(0);
    const nothing = await bench.command('verify', NAME);
    expect(nothing.code, nothing.stderr).toBe(2);
    expect(nothing.stderr).toContain('BACKHAUL_PERSONAL_API_KEY is not set');
    const vendor = join(bench.folder, 'vendor.csv');
    writeFileSync(vendor, 'day,event,count\n2020-01-01,x,1\n');
    const compared = await bench.command('verify', NAME, '--counts', vendor, '--json');
    expect(compared.code, compared.stderr).toBe(6);
    expect(parse(compared).comparisons.map(({ old, now }) => [old, now])).toEqual([['vendor', 'report']]);
    const page = join(bench.folder, 'page.txt');
    const refused = await bench.command('verify', NAME, '--counts', vendor, '--html', page);
    expect(refused.code).toBe(2);
    expect(existsSync(page)).toBe(false);
  }, 120_000);
});

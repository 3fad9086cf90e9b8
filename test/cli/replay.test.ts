import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, type TestContext } from 'vitest';
import { createJsonlBench, type JsonlBench, line, NAME } from '../e2e/jsonl-bench.ts';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { findPartsFolder } from '../support/parts-folder.ts';

afterEach(killAllBackhaul);

/** One record arrives, one is rejected for its time; `repaired.json` can read that. */
async function createReplayBench(
  context: TestContext,
): Promise<JsonlBench & { mend(limits?: object): string }> {
  const bench = await createJsonlBench(context);
  bench.put('a.json', `${line(1)}\n${line(2, { t: '03/01/2023' })}\n`);
  const ended = await bench.run();
  expect(parseReport(ended).byReason).toEqual({ bad_timestamp: 1 });
  return {
    ...bench,
    mend(limits = {}) {
      const path = join(bench.folder, 'repaired.json');
      const mapping = {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 't', format: 'dd/MM/yyyy' },
        key: ['n'],
      };
      const manifest = {
        name: NAME,
        source: { type: 'jsonl', from: 'in/**/*', mapping },
        destination: { url: bench.destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
        limits,
      };
      writeFileSync(path, JSON.stringify(manifest));
      return path;
    },
  };
}

/** Takes what version 0.1.0 did not write out of the record of a replay. */
function forgetOrigin(bench: JsonlBench): void {
  const path = join(stagingOf(bench), '_migrations', `${NAME}.replay-1.json`);
  const { replays, stampedAs: _, ...record } = JSON.parse(readFileSync(path, 'utf8'));
  expect(replays).toBe(NAME);
  writeFileSync(path, JSON.stringify(record));
}

const stagingOf = ({ dataDir }: JsonlBench) => join(dataDir, 'staging');

describe('rejects replay', () => {
  it('is resumed where it was interrupted, though the source has more than the rejects', async (context) => {
    const bench = await createReplayBench(context);
    bench.destination.overrule({ status: 401, body: '{"detail":"no"}' });
    const paused = await bench.command('rejects', 'replay', NAME, '--manifest', bench.mend());
    expect(paused.code, paused.stderr).toBe(5);
    expect(paused.stderr).toContain(`backhaul.mjs resume ${NAME}.replay-1`);
    expect(bench.arrived()).toEqual([1]);

    bench.destination.overrule(undefined);
    const resumed = await bench.command('resume', `${NAME}.replay-1`, '--json');
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(parseReport(resumed)).toMatchObject({ balanced: true, counts: { read: 1, delivered: 1 } });
    expect(bench.arrived()).toEqual([1, 2]);
  }, 120_000);

  it('is continued by the same command where it was killed, and never begun beside another one', async (context) => {
    const bench = await createReplayBench(context);
    bench.destination.overrule(() => {
      void killAllBackhaul();
      return { status: 503, body: '' };
    });
    const again = ['rejects', 'replay', NAME, '--manifest', bench.mend()];
    expect((await bench.command(...again)).code).toBeNull();
    const other = await bench.command('rejects', 'replay', NAME);
    expect(other.code, other.stderr).toBe(2);
    expect(other.stderr).toContain(`"backhaul resume ${NAME}.replay-1"`);

    bench.destination.overrule(undefined);
    forgetOrigin(bench); // as version 0.1.0 left it
    const ended = await bench.command(...again, '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stderr).toContain('it continues with the rejects that there were then');
    expect(parseReport(ended)).toMatchObject({ migration: `${NAME}.replay-1`, counts: { delivered: 1 } });
    const records = () => readdirSync(join(stagingOf(bench), '_migrations'));
    expect(records()).toEqual([`${NAME}.json`, `${NAME}.replay-1.json`]);
    expect(bench.arrived()).toEqual([1, 2]);
  }, 120_000);

  it('imports nothing of a replay that was killed before it was a migration', async (context) => {
    const bench = await createReplayBench(context);
    const staged = findPartsFolder(join(stagingOf(bench), NAME));
    const [fileId = ''] = readdirSync(staged);
    const leftover = join(stagingOf(bench), `${NAME}.replay-1`, 'parts', fileId);
    mkdirSync(leftover, { recursive: true });
    writeFileSync(join(leftover, '00001.json'), 'half written');

    const ended = await bench.command('rejects', 'replay', NAME, '--manifest', bench.mend(), '--json');
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended).counts).toMatchObject({ read: 1, delivered: 1 });
    expect(existsSync(join(leftover, '00001.json'))).toBe(false);
  }, 120_000);
});

describe('the limits of the contract', () => {
  it('hold for a replay, which leaves nothing behind', async (context) => {
    const bench = await createReplayBench(context);
    const records = () => readdirSync(join(stagingOf(bench), '_migrations'));
    const fast = bench.mend({ eventsPerMinute: 300_000 });
    const replayed = await bench.command('rejects', 'replay', NAME, '--manifest', fast);
    expect(replayed.code, replayed.stderr).toBe(4);
    expect(replayed.stderr).toContain('limits.eventsPerMinute is 300,000; 10,000 are allowed');
    expect(records()).toEqual([`${NAME}.json`]);
    expect(bench.arrived()).toEqual([1]);
  }, 120_000);

  it('hold for a migration that exists, time and again', async (context) => {
    const bench = await createJsonlBench(context, { limits: { eventsPerMinute: 300_000 } });
    bench.put('a.json', `${line(1)}\n`);
    expect((await bench.run()).code).toBe(4);
    expect(existsSync(join(stagingOf(bench), '_migrations'))).toBe(false);

    const path = join(bench.folder, `${NAME}.json`);
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...manifest, limits: { eventsPerMinute: 10_000 } }));
    const slow = await bench.command('run', path);
    expect(slow.code, slow.stderr).toBe(0);
    for (let time = 0; time < 2; time += 1) {
      const ended = await bench.run();
      expect(ended.code, ended.stderr).toBe(4);
      expect(ended.stderr).toContain('limits.eventsPerMinute is 300,000; 10,000 are allowed');
    }
  }, 120_000);
});

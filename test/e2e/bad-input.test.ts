import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { writeZip } from '../sources/formats/write-zip.ts';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { createRandom } from '../support/seeded-random.ts';
import { createJsonlBench, expectFault, line, lines, NAME, numbers } from './jsonl-bench.ts';

/** Bad input gets a clear error or a counted reject, and nothing is lost. */
const TIMEOUT_MS = 120_000;
afterEach(killAllBackhaul);

describe('records that make no sense are counted, and everything else arrives', {
  timeout: TIMEOUT_MS,
}, () => {
  it('from files of every odd kind at once', async (context) => {
    const bench = await createJsonlBench(context);
    const { put } = bench;
    put('a-doubly-compressed.gz', gzipSync(gzipSync(lines(0, 10))));
    put('b-wrong-extension.csv', gzipSync(lines(10, 20)));
    put(
      'c-zip-called-json.json',
      writeZip([{ name: 'x.json', body: Buffer.from(lines(20, 30)), deflate: true }]),
    );
    put('d-bom.json', `\ufeff${lines(30, 40)}`);
    put('e-crlf.json', lines(40, 50).replaceAll('\n', '\r\n'));
    put('f-no-final-newline.json', lines(50, 60).trimEnd());
    put('g-empty.json', '');
    put('h-empty.gz', gzipSync(''));
    put('i-members.gz', Buffer.concat([gzipSync(lines(60, 65)), gzipSync(lines(65, 70))]));
    put('j-zip-slip.zip', writeZip([{ name: '../../../slipped.json', body: Buffer.from(lines(70, 80)) }]));
    const invalid = Buffer.from(`${line(900, { name: '\u0001' })}\n`.replace('\\u0001', '\u00e9'), 'latin1');
    put(
      'k-invalid-utf8.json',
      Buffer.concat([Buffer.from(lines(80, 85)), invalid, Buffer.from(lines(85, 90))]),
    );
    const huge = line(901, { text: 'x'.repeat(50 * 1024 * 1024) });
    put('l-huge-line.json.gz', gzipSync(`${lines(90, 95)}${huge}\n${lines(95, 100)}`, { level: 1 }));
    put('m-nonsense.json', `${lines(100, 101)}{"e":"counted",\n[1,2]\n"text"\n${lines(101, 102)}`);

    const ended = await bench.run();
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(0, 102));
    const report = parseReport(ended);
    expect(report).toMatchObject({
      balanced: true,
      counts: { read: 107, delivered: 102, rejected: 5, skipped: 0, duplicate: 0 },
      byReason: { record_too_large: 1, not_an_object: 2, unreadable: 2 },
    });
    expect(existsSync(join(bench.folder, '..', 'slipped.json'))).toBe(false);

    const rejects = await bench.command('rejects', 'show', NAME, '--json', '--limit', '100');
    const shown = rejects.stdout
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as { file: string; line: number; text?: string; base64?: string });
    const at = (name: string) => shown.filter(({ file }) => file.includes(name));
    expect(at('k-invalid')).toMatchObject([{ line: 6, base64: invalid.subarray(0, -1).toString('base64') }]);
    expect(at('l-huge')).toMatchObject([{ line: 6, oversize: { bytes: huge.length } }]);
    expect(at('m-nonsense').map(({ line }) => line)).toEqual([2, 3, 4]);
  });
});

describe('a file that is broken fails alone, and says so', { timeout: TIMEOUT_MS }, () => {
  it('when its gzip is cut off: what stands before the cut arrives, and the rest once it is repaired', async (context) => {
    const bench = await createJsonlBench(context);
    const whole = gzipSync(lines(0, 3_000));
    bench.put('cut.json.gz', whole.subarray(0, whole.length / 2));
    bench.put('good.json', lines(3_000, 3_010));
    const ended = await bench.run();
    expectFault(
      ended,
      1,
      /in\/cut\.json\.gz is damaged gzip at byte \d+ \(it ends too early\)/,
      /resume bad/,
    );
    const before = bench.arrived().filter((n) => n < 3_000);
    expect(before.length).toBeGreaterThan(500);
    expect(before).toEqual(numbers(0, before.length));
    expect(bench.arrived().slice(before.length)).toEqual(numbers(3_000, 3_010));
    const report = parseReport(ended);
    expect(report).toMatchObject({ counts: { delivered: before.length + 10 } });
    expect(report.unfinished.files.join()).toContain('cut.json.gz');
    const told = async () => parseReport(await bench.command('report', '--json', NAME)).unfinished.failures;
    expect(await told()).toEqual([
      { what: expect.stringContaining('stage-file'), reason: expect.stringContaining('damaged gzip') },
    ]);

    bench.put('cut.json.gz', whole);
    const repaired = await bench.command('resume', '--json', NAME);
    expect(repaired.code, repaired.stderr).toBe(0);
    expect(parseReport(repaired)).toMatchObject({
      balanced: true,
      counts: { read: 3_010, delivered: 3_010 },
    });
    expect(bench.arrived()).toEqual(numbers(0, 3_010));
    expect(await told()).toEqual([]);
  });

  it('when it is a zip in a zip, or packed three times', async (context) => {
    const bench = await createJsonlBench(context);
    const inner = writeZip([{ name: 'x.json', body: Buffer.from(lines(0, 5)) }]);
    bench.put('nested.zip', writeZip([{ name: 'inner.zip', body: inner }]));
    bench.put('thrice.gz', gzipSync(gzipSync(gzipSync(lines(5, 10)))));
    bench.put('good.json', lines(10, 20));
    const ended = await bench.run();
    expectFault(
      ended,
      1,
      /nested\.zip, member inner\.zip is a zip inside another/,
      /thrice\.gz is packed .* unpack/,
    );
    expect(bench.arrived()).toEqual(numbers(10, 20));
  });
});

describe('a source that is not what it was', { timeout: TIMEOUT_MS }, () => {
  it('a manifest for a file that is not there names it, and sends nothing', async (context) => {
    const bench = await createJsonlBench(context);
    bench.put('there.json', lines(0, 1));
    expectFault(await bench.run(['in/there.json', 'in/gone.json']), 2, /gone\.json/);
    expect(bench.arrived()).toEqual([]);
  });

  it('is refused while it differs, continues when it was only copied again, and is not needed once staged', async (context) => {
    const bench = await createJsonlBench(context);
    const zipped = writeZip([{ name: 'x.json', body: Buffer.from(lines(20, 30)), deflate: true }]);
    bench.put('a.json', lines(10, 20));
    bench.put('b.zip', zipped);
    expect(await bench.run()).toMatchObject({ code: 0 });

    bench.put('a.json', lines(10, 21));
    expectFault(
      await bench.run(),
      2,
      /a\.json had \d+ bytes, it has \d+ now/,
      /put back .*\bor give .* a new name/s,
    );
    // As many bytes as before.
    bench.put('a.json', lines(30, 40));
    expectFault(await bench.run(), 2, /a\.json has other content than the one that was staged/);

    bench.put('a.json', lines(10, 20));
    for (const name of ['a.json', 'b.zip']) utimesSync(join(bench.folder, 'in', name), 1e9, 1e9);
    const again = await bench.run();
    expect(again.code, again.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(10, 30));

    rmSync(join(bench.folder, 'in'), { recursive: true });
    const ended = await bench.command('resume', '--json', NAME);
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended)).toMatchObject({ counts: { delivered: 20 } });
    expect(bench.arrived()).toEqual(numbers(10, 30));
  });
});

describe('what the operator must mend', { timeout: TIMEOUT_MS }, () => {
  it('a wrong key pauses the migration, says what to do, and the right one continues', async (context) => {
    const bench = await createJsonlBench(context, { apiKey: 'phc_right' });
    bench.put('a.json', lines(0, 10));
    const ended = await bench.run();
    expectFault(
      ended,
      5,
      /does not accept the project API key/,
      /Check destination\.apiKey/,
      /backhaul.mjs resume bad/,
    );
    expect(ended.stderr + ended.stdout).not.toContain('phc_e2e');
    const status = await bench.command('status', '--json', NAME);
    expect(JSON.parse(status.stdout)).toMatchObject({ state: 'paused' });
    expect(bench.arrived()).toEqual([]);

    bench.useKey('phc_right');
    const resumed = await bench.command('resume', '--json', NAME);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(0, 10));
  });

  it('a variable that is not set is named before anything starts', async (context) => {
    const bench = await createJsonlBench(context, { env: { BACKHAUL_PROJECT_API_KEY: '' } });
    bench.put('a.json', lines(0, 10));
    expectFault(await bench.run(), 2, /BACKHAUL_PROJECT_API_KEY/);
    expect(existsSync(join(bench.dataDir, 'staging'))).toBe(false);
  });

  it('a data folder that is no folder is named', async (context) => {
    const bench = await createJsonlBench(context, { dataDir: '/dev/null/backhaul', embedded: true });
    bench.put('a.json', lines(0, 10));
    expectFault(await bench.run(), 2, /\/dev\/null\/backhaul/);
  });

  it.runIf(ALL && canMountTmpfs())('a full disk stops the run, and room makes it go on', async (context) => {
    const bench = await createJsonlBench(context, { embedded: true });
    mkdirSync(bench.dataDir);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', bench.dataDir]);
    context.onTestFinished(() => void execFileSync('umount', ['-l', bench.dataDir]));
    const text = numbers(0, 4_000).map((n) => line(n, { noise: noise() }));
    bench.put('a.json', `${text.join('\n')}\n`);
    expectFault(await bench.run(), 1, /is full .*free some space/, /backhaul.mjs resume bad/);

    execFileSync('mount', ['-o', 'remount,size=100m', bench.dataDir]);
    const ended = await bench.command('resume', '--json', NAME);
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.arrived()).toEqual(numbers(0, 4_000));
    expect(readdirSync(bench.dataDir)).not.toContain('services.json');
  });
});

const random = createRandom(1);
/** Does not compress. */
const noise = () => Buffer.from(numbers(0, 400).map(() => random() * 256)).toString('base64');

function canMountTmpfs(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  const folder = '/tmp/backhaul-tmpfs-probe';
  try {
    mkdirSync(folder, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder], { stdio: 'ignore' });
    return true;
  } catch {
    console.warn('skipped: a full disk cannot be had here (mounting a tmpfs takes root and CAP_SYS_ADMIN)');
    return false;
  }
}

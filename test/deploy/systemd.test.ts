import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadSettings } from '../../config/load-settings.ts';
import { END_WITHIN_MS } from '../../src/cli/stop-signal.ts';
import { readText, switchOn } from '../support/compose.ts';
import { isInstall, listGuideCommands } from '../support/guide-commands.ts';
import { parseCommand } from '../support/parse-command.ts';
import { getArguments, parseEnvironmentFile, readUnit, UNITS } from '../support/systemd.ts';

const SETTINGS = '/etc/backhaul/backhaul.env';
const PROGRAM = '/opt/backhaul/bin/backhaul';
const example = readText('deploy/systemd/backhaul.env');
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'backhaul-units-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe.each(UNITS)('%s', (name) => {
  const unit = readUnit(name);
  const service = unit['Service'] ?? {};

  test('starts a command that exists, with the settings of the guide', () => {
    expect(service['ExecStart']?.[0]).toMatch(new RegExp(`^${PROGRAM} (serve|worker)$`));
    expect(parseCommand(getArguments(unit))).toBe('parsed');
    expect(service['EnvironmentFile']).toEqual([SETTINGS]);
    const { BACKHAUL_DATA_DIR } = parseEnvironmentFile(example);
    expect([BACKHAUL_DATA_DIR]).toEqual(service['StateDirectory']?.map((name) => `/var/lib/${name}`));
  });

  test('waits for the end of a process, which stops what it started', () => {
    expect(Number(service['TimeoutStopSec']) * 1_000).toBeGreaterThan(END_WITHIN_MS);
    expect(service['KillMode']).toEqual(['mixed']);
  });

  test.runIf(hasAnalyze)('is taken by systemd without a warning', () => {
    const path = join(createFolder(), name.replace('@', '@1'));
    writeFileSync(path, readText(`deploy/systemd/${name}`).replace(PROGRAM, process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });
});

test('each worker answers on a port of its own, and none on that of the pages', () => {
  const [variable = ''] = readUnit('backhaul-worker@.service')['Service']?.['Environment'] ?? [];
  const ports = Array.from(
    { length: 9 },
    (_, index) => loadSettings(parseEnvironmentFile(variable.replace('%i', String(index + 1)))).workerPort,
  );
  expect(new Set([...ports, loadSettings(parseEnvironmentFile(example)).port]).size).toBe(10);
});

describe('backhaul.env', () => {
  const all = switchOn(example, () => true);

  test.each([
    ['as it is', example],
    ['with every line', all],
  ])('is settings: %s', (_, text) => {
    const variables = parseEnvironmentFile(text);
    const settings = loadSettings({
      ...variables,
      ...(text === all ? { BACKHAUL_WEBHOOK_SECRET: `whsec_${'a'.repeat(44)}` } : {}),
    });
    expect(settings.redisUrl).toBe(variables['REDIS_URL']);
    expect(settings.databaseUrl).toBe(variables['DATABASE_URL']);
  });

  test('is read by a shell as by systemd, also values in single quotes', () => {
    const folder = createFolder();
    const path = join(folder, 'backhaul.env');
    const text = `${all}QUOTED='a b&c;"$d'\n`;
    writeFileSync(path, text);
    const script = 'set -a; . "$0"; exec env -0';
    const printed = execFileSync('sh', ['-c', script, path], { env: { PATH: process.env['PATH'] } });
    const seen = new Map(
      printed
        .toString()
        .split('\0')
        .map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]),
    );
    const variables = parseEnvironmentFile(text);
    expect(Object.keys(variables).length).toBeGreaterThan(10);
    for (const [name, value] of Object.entries(variables))
      expect([name, seen.get(name)]).toEqual([name, value]);
  });
});

test('the guide installs the files where they look for each other', () => {
  const installed = listGuideCommands().filter(isInstall).join('\n');
  expect(installed).toContain(`deploy/systemd/backhaul.env ${SETTINGS}`);
  for (const name of UNITS) expect(installed).toContain(`deploy/systemd/${name}`);
  const command = readText('deploy/systemd/backhaul');
  expect(command).toContain(`. ${SETTINGS}\n`);
  expect(command).toContain(`exec ${PROGRAM} "$@"`);
  const { version } = JSON.parse(readText('package.json'));
  expect(listGuideCommands()).toContain(
    `sudo npm install --global --prefix /opt/backhaul ./backhaul-${version}.tgz`,
  );
});

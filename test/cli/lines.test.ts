import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../config/load-settings.ts';
import { resumeCommand } from '../../src/cli/command-line.ts';
import { renderLogLine } from '../../src/cli/render/render-log-line.ts';
import { cutLine } from '../../src/cli/terminal.ts';

const command = (env: Record<string, string>, program: string) =>
  resumeCommand({ env, settings: loadSettings(env, '/home/ada') }, 'shop', ['node', program]);

describe('the resume command', () => {
  it('is called as the run was', () => {
    expect(command({}, '/src/setup/backhaul.mjs')).toBe('node /src/setup/backhaul.mjs resume shop');
    expect(command({}, '/usr/local/bin/backhaul')).toBe('backhaul resume shop');
    expect(command({ npm_command: 'exec' }, '/x/backhaul.mjs')).toBe('npx backhaul resume shop');
  });

  it('names the data folder where one was chosen, whole, and safe to paste', () => {
    const env = { BACKHAUL_DATA_DIR: "my data/it's" };
    expect(command(env, '/bin/backhaul')).toBe(
      "BACKHAUL_DATA_DIR='/home/ada/my data/it'\\''s' backhaul resume shop",
    );
  });
});

describe('a command to paste', () => {
  it('names Redis and staging where the environment does, and no password', () => {
    const staging = { BACKHAUL_STAGING: 's3://bucket/moves' };
    expect(command({ ...staging, REDIS_URL: 'redis://10.0.0.5:6379' }, '/bin/backhaul')).toBe(
      'REDIS_URL=redis://10.0.0.5:6379 BACKHAUL_STAGING=s3://bucket/moves backhaul resume shop',
    );
    expect(command({ REDIS_URL: 'rediss://ada:secret@redis.example:6379' }, '/bin/backhaul')).toBe(
      'REDIS_URL=… backhaul resume shop',
    );
    expect(command({ REDIS_URL: '' }, '/bin/backhaul')).toBe('backhaul resume shop');
  });
});

describe('a log line at a terminal', () => {
  it('is a sentence with its facts', () => {
    const line = '{"level":40,"time":"2024-01-01T00:00:00Z","tries":3,"detail":"500","msg":"trying again"}\n';
    expect(renderLogLine(line)).toBe('warn: trying again  tries=3  detail=500');
  });

  it('stays as it is where it is no JSON', () => {
    expect(renderLogLine('plain text\n')).toBe('plain text');
  });
});

describe('a status line', () => {
  it('that fits stays whole, and one that does not ends in an ellipsis', () => {
    expect(cutLine('12 records', 10)).toBe('12 records');
    expect(cutLine('123 records', 10)).toBe('123 recor…');
    expect(cutLine('import 50 %', 8)).toBe('import…');
  });
});

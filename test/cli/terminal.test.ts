import { afterEach, expect, it, vi } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { createTerminal } from '../../src/cli/terminal.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function collectStderr(): () => string {
  const written: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  return () => written.join('');
}

it('writes no control character of a text to stderr, be it a line or what ends a command', async () => {
  const written = collectStderr();
  // What sets the form of the tests is no setting of Backhaul.
  for (const name of Object.keys(process.env)) if (name.startsWith('BACKHAUL_')) vi.stubEnv(name, undefined);
  createTerminal({ json: false, env: {} }).info('stage-file: us\u001b[2Jer.csv\nand a second line');
  expect(written()).toBe('stage-file: us\\u001b[2Jer.csv\nand a second line\n');
  expect(await main(['node', 'backhaul', 'plan', '/nowhere/us\u001b[2Jer.yaml'])).toBe(2);
  expect(written()).toContain('/nowhere/us\\u001b[2Jer.yaml');
  expect(written().replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});

it('prints the last status before a silence where it may print one now and then only', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const written = collectStderr();
    const terminal = createTerminal({ json: false, env: { TERM: 'dumb' } });
    for (const line of ['stage', 'import', 'waiting for the destination: HTTP 429'])
      terminal.status(() => line);
    expect(written()).toBe('stage\n');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(written()).toBe('stage\nwaiting for the destination: HTTP 429\n');
    terminal.status(() => 'report');
    terminal.endStatus();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(written()).toBe('stage\nwaiting for the destination: HTTP 429\n');
  } finally {
    vi.useRealTimers();
  }
});

import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface TestRun {
  readonly passed: number;
  /** Names of the tests that failed, and files that could not be loaded. */
  readonly failed: readonly string[];
  /** The end of what was printed. */
  readonly output: string;
}

interface Results {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/**
 * Runs test files of a tree, up to the first failure.
 * @throws {Error} when nothing was run, for example because no file matched.
 */
export async function runTests(root: string, tests: readonly string[]): Promise<TestRun> {
  const { code, ...ended } = await runOnce(root, tests, ['--bail', '1']);
  // Several files at once that end at the first failure may lose its report.
  return code === 0 || ended.failed.length > 0 ? ended : runOnce(root, tests, []);
}

async function runOnce(
  root: string,
  tests: readonly string[],
  options: readonly string[],
): Promise<TestRun & { readonly code: number | null }> {
  const results = join(root, 'mutant-results.json');
  rmSync(results, { force: true });
  const { code, output } = await run(root, [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...['--config', 'config/vitest.config.ts', ...options],
    ...['--reporter', 'json', '--outputFile', results],
    ...tests,
  ]);
  const { numPassedTests, testResults } = readResults(results, output);
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const names = assertionResults.filter((each) => each.status === 'failed').map((each) => each.fullName);
    return names.length === 0 && status === 'failed' ? [name] : names;
  });
  return { code, passed: numPassedTests, failed, output };
}

function readResults(file: string, output: string): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`the tests were not run:\n${output}`, { cause });
  }
}

const KEPT_CHARACTERS = 4000;

async function run(
  cwd: string,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  // Variables of the vitest that this runs in would change the one that it starts.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_CHARACTERS);
    });
  }
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('close', resolve).once('error', reject),
  );
  return { code, output };
}

import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createFolder, load } from './load.ts';

interface SetUpOptions {
  root: string;
  env: Record<string, string>;
  log: (text: string) => void;
}
const { setUp, isSetUp } = await load<{
  setUp: (options: SetUpOptions) => Promise<void>;
  isSetUp: (options: Omit<SetUpOptions, 'log'>) => boolean;
}>('setup.mjs');
const { installPackages } = await load<{
  installPackages: (root: string, log: (text: string) => void) => Promise<void>;
}>('packages.mjs');
const { withLock } = await load<{
  withLock: <T>(cache: string, log: (text: string) => void, work: () => Promise<T>) => Promise<T>;
}>('lock.mjs');
const { checkNodeVersion } = await load<{ checkNodeVersion: (version?: string) => void }>('node-version.mjs');

const repository = fileURLToPath(new URL('../..', import.meta.url));
const quiet = () => {};

/** A small checkout: one package in a folder of its own, one source, one file that the code would read. */
function createCheckout(): string {
  const tsconfig = { compilerOptions: { module: 'nodenext', target: 'es2023', strict: true, types: [] } };
  const build = {
    extends: '../tsconfig.json',
    compilerOptions: { rootDir: '..', outDir: '../dist' },
    include: ['../src'],
  };
  const root = createFolder({
    'package.json': JSON.stringify({ name: 'small', type: 'module', dependencies: { tiny: 'file:./tiny' } }),
    'tiny/package.json': JSON.stringify({ name: 'tiny', version: '1.0.0' }),
    'tsconfig.json': JSON.stringify(tsconfig),
    'config/tsconfig.build.json': JSON.stringify(build),
    'src/hello.ts': 'export const hello: string = "hello";\n',
    'src/table.sql': 'select 1;\n',
  });
  return root;
}

/** Links the compiler of this checkout, which saves a download. */
function linkCompiler(root: string): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  symlinkSync(join(repository, 'node_modules/typescript'), join(root, 'node_modules/typescript'));
}

test('a fresh checkout is set up once; the second time there is nothing to do', async () => {
  const root = createCheckout();
  const env = { REDIS_URL: 'redis://127.0.0.1:6379' };
  const logged: string[] = [];
  const log = (text: string) => logged.push(text);
  await installPackages(root, log);
  expect(existsSync(join(root, 'node_modules/tiny/package.json'))).toBe(true);
  expect(existsSync(join(root, 'package-lock.json'))).toBe(false);
  linkCompiler(root);
  expect(isSetUp({ root, env })).toBe(false);

  await setUp({ root, env, log });
  expect(logged).toEqual(['installing packages (npm install)', 'building (tsc)']);
  expect(readFileSync(join(root, 'dist/src/hello.js'), 'utf8')).toContain('hello');
  expect(readFileSync(join(root, 'dist/src/table.sql'), 'utf8')).toBe('select 1;\n');
  expect(isSetUp({ root, env })).toBe(true);
  await setUp({ root, env, log });
  expect(logged).toHaveLength(2);

  rmSync(join(root, 'src/hello.ts'));
  writeFileSync(join(root, 'src/changed.ts'), 'export const hello: string = "changed";\n');
  renameSync(join(root, 'src/table.sql'), join(root, 'src/renamed.sql'));
  await setUp({ root, env, log });
  expect(readFileSync(join(root, 'dist/src/changed.js'), 'utf8')).toContain('changed');
  expect(readdirSync(join(root, 'dist/src')).sort()).toEqual(['changed.js', 'renamed.sql']);
  rmSync(join(root, 'dist'), { recursive: true });
  expect(isSetUp({ root, env })).toBe(false);
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'small', dependencies: {} }));
  await installPackages(root, log);
  expect(logged.filter((text) => text.startsWith('installing'))).toHaveLength(2);
});

test('a failed build reports where and what to do, and is not taken for finished', async () => {
  const root = createCheckout();
  const env = { REDIS_URL: 'redis://127.0.0.1:6379' };
  await installPackages(root, quiet);
  linkCompiler(root);
  writeFileSync(join(root, 'src/hello.ts'), 'export const hello: string = 1;\n');
  await expect(setUp({ root, env, log: quiet })).rejects.toThrow(
    /build failed.*src\/hello\.ts\(1,14\).*npm run check/s,
  );
  expect(isSetUp({ root, env })).toBe(false);
});

test('packages that cannot be installed are an error with the command to repeat', async () => {
  const root = createFolder({
    'package.json': JSON.stringify({ name: 'small', dependencies: { gone: 'file:./nowhere/gone.tgz' } }),
  });
  await expect(installPackages(root, quiet)).rejects.toThrow(
    /npm install failed.*gone\.tgz.*&& npm install/s,
  );
});

test('several set-ups of one checkout run one at a time', async () => {
  const cache = createFolder();
  let active = 0;
  const concurrency: number[] = [];
  const waits: string[] = [];
  const start = () =>
    withLock(
      cache,
      (text) => waits.push(text),
      async () => {
        active += 1;
        concurrency.push(active);
        await new Promise((resolve) => setImmediate(resolve));
        active -= 1;
      },
    );
  await Promise.all([start(), start(), start()]);
  expect(concurrency).toEqual([1, 1, 1]);
  expect(waits).toHaveLength(2);
});

test('the lock of a killed set-up does not block the next one', async () => {
  const cache = createFolder();
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', 'console.log(process.pid)']);
  const folder = join(cache, 'setup.lock');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pid'), stdout.trim());
  expect(await withLock(cache, quiet, async () => 'done')).toBe('done');
  expect(existsSync(folder)).toBe(false);
});

test('the oldest supported Node.js and newer ones are accepted, older ones refused', () => {
  for (const version of ['20.20.0', '20.20.2', '20.21.0', '22.0.0', '24.11.1']) checkNodeVersion(version);
  for (const version of ['20.19.9', '18.20.8', '19.99.99']) {
    expect(() => checkNodeVersion(version)).toThrow(/too old.*20\.20\.0 or newer.*nodejs\.org/s);
  }
});

test('a checkout that is ready is recognised within 50 milliseconds', async () => {
  const root = createCheckout();
  const env = { REDIS_URL: 'redis://127.0.0.1:6379' };
  await installPackages(root, quiet);
  linkCompiler(root);
  await setUp({ root, env, log: quiet });
  const startedMs = performance.now();
  for (let time = 0; time < 10; time += 1) expect(isSetUp({ root, env })).toBe(true);
  expect((performance.now() - startedMs) / 10).toBeLessThan(50);
});

test('the shell scripts of the checkout parse', async () => {
  await promisify(execFile)('bash', ['-n', join(repository, '.ci/run')]);
});

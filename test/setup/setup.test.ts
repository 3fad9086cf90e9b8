import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createFolder, load } from './load.ts';

interface SetUpOptions {
  root: string;
  env: Record<string, string>;
  say: (text: string) => void;
}
const { setUp, isSetUp } = await load<{
  setUp: (options: SetUpOptions) => Promise<void>;
  isSetUp: (options: Omit<SetUpOptions, 'say'>) => boolean;
}>('setup.mjs');
const { installPackages } = await load<{
  installPackages: (root: string, say: (text: string) => void) => Promise<void>;
}>('packages.mjs');
const { withLock } = await load<{
  withLock: <T>(root: string, say: (text: string) => void, work: () => Promise<T>) => Promise<T>;
}>('lock.mjs');
const { checkNodeVersion } = await load<{ checkNodeVersion: (version?: string) => void }>('node-version.mjs');

const repository = fileURLToPath(new URL('../..', import.meta.url));
const quiet = () => {};

/** A checkout in small: one package that lies beside it, one source, one file that the code would read. */
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

/** The compiler of this checkout, in place of a download. */
function lendCompiler(root: string): void {
  mkdirSync(join(root, 'node_modules'), { recursive: true });
  symlinkSync(join(repository, 'node_modules/typescript'), join(root, 'node_modules/typescript'));
}

test('a fresh checkout is set up once; the second time there is nothing to do', async () => {
  const root = createCheckout();
  const env = { REDIS_URL: 'redis://127.0.0.1:6379' };
  const said: string[] = [];
  const say = (text: string) => said.push(text);
  await installPackages(root, say);
  expect(existsSync(join(root, 'node_modules/tiny/package.json'))).toBe(true);
  expect(existsSync(join(root, 'package-lock.json'))).toBe(false);
  lendCompiler(root);
  expect(isSetUp({ root, env })).toBe(false);

  await setUp({ root, env, say });
  expect(said).toEqual(['installing packages (npm install)', 'building (tsc)']);
  expect(readFileSync(join(root, 'dist/src/hello.js'), 'utf8')).toContain('hello');
  expect(readFileSync(join(root, 'dist/src/table.sql'), 'utf8')).toBe('select 1;\n');
  expect(isSetUp({ root, env })).toBe(true);
  await setUp({ root, env, say });
  expect(said).toHaveLength(2);

  writeFileSync(join(root, 'src/hello.ts'), 'export const hello: string = "changed";\n');
  await setUp({ root, env, say });
  expect(readFileSync(join(root, 'dist/src/hello.js'), 'utf8')).toContain('changed');
  rmSync(join(root, 'dist'), { recursive: true });
  expect(isSetUp({ root, env })).toBe(false);
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'small', dependencies: {} }));
  await installPackages(root, say);
  expect(said.filter((text) => text.startsWith('installing'))).toHaveLength(2);
});

test('a build that fails says where and what to do, and is not taken for done', async () => {
  const root = createCheckout();
  const env = { REDIS_URL: 'redis://127.0.0.1:6379' };
  await installPackages(root, quiet);
  lendCompiler(root);
  writeFileSync(join(root, 'src/hello.ts'), 'export const hello: string = 1;\n');
  await expect(setUp({ root, env, say: quiet })).rejects.toThrow(
    /build failed.*src\/hello\.ts\(1,14\).*npm run check/s,
  );
  expect(isSetUp({ root, env })).toBe(false);
});

test('packages that cannot be had say so, with the command to repeat', async () => {
  const root = createFolder({
    'package.json': JSON.stringify({ name: 'small', dependencies: { gone: 'file:./nowhere/gone.tgz' } }),
  });
  await expect(installPackages(root, quiet)).rejects.toThrow(
    /npm install failed.*gone\.tgz.*&& npm install/s,
  );
});

test('of several set-ups of one checkout one works at a time', async () => {
  const root = createFolder();
  let working = 0;
  const widths: number[] = [];
  const waits: string[] = [];
  const one = () =>
    withLock(
      root,
      (text) => waits.push(text),
      async () => {
        working += 1;
        widths.push(working);
        await new Promise((resolve) => setImmediate(resolve));
        working -= 1;
      },
    );
  await Promise.all([one(), one(), one()]);
  expect(widths).toEqual([1, 1, 1]);
  expect(waits).toHaveLength(2);
});

test('the lock of a set-up that was killed does not stop the next', async () => {
  const root = createFolder();
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', 'console.log(process.pid)']);
  const folder = join(root, 'node_modules/.cache/backhaul/setup.lock');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pid'), stdout.trim());
  expect(await withLock(root, quiet, async () => 'done')).toBe('done');
  expect(existsSync(folder)).toBe(false);
});

test('Node.js from the floor on is accepted, anything older is refused', () => {
  for (const version of ['20.20.0', '20.20.2', '20.21.0', '22.0.0', '24.11.1']) checkNodeVersion(version);
  for (const version of ['20.19.9', '18.20.8', '19.99.99']) {
    expect(() => checkNodeVersion(version)).toThrow(/too old.*20\.20\.0 or newer.*nodejs\.org/s);
  }
});

test('what is set up already costs next to nothing', async () => {
  const root = createCheckout();
  const env = { REDIS_URL: 'redis://127.0.0.1:6379' };
  await installPackages(root, quiet);
  lendCompiler(root);
  await setUp({ root, env, say: quiet });
  const startedMs = performance.now();
  for (let time = 0; time < 10; time += 1) expect(isSetUp({ root, env })).toBe(true);
  expect((performance.now() - startedMs) / 10).toBeLessThan(50);
});

test('the scripts of the checkout are sound shell', async () => {
  await promisify(execFile)('bash', ['-n', join(repository, '.ci/run')]);
});

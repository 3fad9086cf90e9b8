import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';

const names = z.record(z.string(), z.string()).default({});
const lockedPackage = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  os: z.array(z.string()).optional(),
  cpu: z.array(z.string()).optional(),
  dependencies: names,
  devDependencies: names,
  optionalDependencies: names,
});
type LockedPackage = z.infer<typeof lockedPackage>;

const read = (file: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
const manifest = z
  .object({ dependencies: names, devDependencies: names, overrides: names })
  .parse(read('package.json'));
const lockFile = z
  .object({ lockfileVersion: z.literal(3), packages: z.record(z.string(), lockedPackage) })
  .parse(read('package-lock.json'));
const packages = new Map(Object.entries(lockFile.packages));
const root = packages.get('');
const installed = [...packages].filter(([path]) => path !== '');

/** As Node.js looks for a package: in the folder itself, then in each one above it. */
function findPackage(from: string, name: string): LockedPackage | undefined {
  const own = packages.get(from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`);
  if (own !== undefined || from === '') return own;
  return findPackage(from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1)), name);
}

/** The packages for one platform alone; on npm, the usual trap is a lock file that lacks those of the others. */
function listPlatforms(prefix: string): string[] {
  return installed
    .filter(([path, { os }]) => path.startsWith(`node_modules/${prefix}`) && os !== undefined)
    .flatMap(([, { os = [], cpu = [] }]) =>
      os.flatMap((system) => cpu.map((family) => `${system}-${family}`)),
    );
}

test('package.json pins every direct dependency to one version', () => {
  const pins = Object.entries({
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.overrides,
  });
  expect(pins.length).toBeGreaterThan(30);
  for (const [name, version] of pins) expect(`${name} ${version}`).toMatch(/ (npm:.+@)?\d+\.\d+\.\d+$/);
});

test('the lock file was made from this package.json', () => {
  expect(root?.dependencies).toEqual(manifest.dependencies);
  expect(root?.devDependencies).toEqual(manifest.devDependencies);
});

test('the lock file has every package that another one names, with its hash', () => {
  const wanted = [...packages].flatMap(([path, { dependencies, devDependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).map((name) => ({
      path,
      name,
    })),
  );
  expect(wanted.length).toBeGreaterThan(300);
  expect(wanted.filter(({ path, name }) => findPackage(path, name) === undefined)).toEqual([]);
  expect(installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([]);
});

test('the lock file names no registry, so that each machine uses its own', () => {
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

test.each([
  '@biomejs/cli-',
  '@oxlint/binding-',
  '@oxlint-tsgolint/',
  '@typescript/typescript-',
  '@rolldown/binding-',
  '@msgpackr-extract/',
])('the lock file has %s… for Linux and macOS on both CPU families', (prefix) => {
  const wanted = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
  expect(listPlatforms(prefix)).toEqual(expect.arrayContaining(wanted));
});

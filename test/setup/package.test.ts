import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const manifest = z
  .object({
    bin: z.record(z.string(), z.string()),
    exports: z.record(z.string(), z.string()),
    dependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
const packOutput = z
  .tuple([z.object({ unpackedSize: z.number(), files: z.array(z.object({ path: z.string() })) })])
  .transform(([pack]) => ({ ...pack, files: pack.files.map(({ path }) => path) }));

let pack: z.infer<typeof packOutput>;

beforeAll(async () => {
  // Set-up has built already; run again by npm's `prepack`, it would only look.
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  pack = packOutput.parse(JSON.parse(stdout));
});

/** `import` and `export … from` statements, dynamic imports, and modules that are resolved by name. */
function listImports(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const patterns = [
    /^(?:import|export)\s+(?:[\w*{}$,\s]+\s+from\s+)?['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
    /\brequire\(\s*['"]([^'"]+)['"]\s*\)/g,
    /\.resolve\(\s*['"]([^'"]+)\/package\.json['"]\s*\)/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name ?? ''));
}

const isScript = (file: string) => /\.m?js$/.test(file);
const getPackageName = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

test('the package holds the build, the set-up and the files that npm requires, and nothing else', () => {
  const kinds = [
    /^(package\.json|README\.md|LICENSE)$/,
    /^dist\/(src|jobs|config)\/.+\.js$/,
    /^dist\/config\/(example\.env|manifest\.schema\.json)$/,
    /^dist\/config\/seed\.schema\.json$/,
    /^src\/setup\/[\w-]+\.mjs$/,
  ];
  expect(pack.files.filter((file) => !kinds.some((kind) => kind.test(file)))).toEqual([]);
  for (const kind of kinds) expect(pack.files.some((file) => kind.test(file))).toBe(true);
});

test('the package holds the build of every source, and of no source that is gone', () => {
  const sources = ['src', 'jobs', 'config'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter(
        (name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !/^vitest.*\.config\.ts$/.test(name),
      )
      .map((name) => `dist/${folder}/${name.replace(/\.ts$/, '.js')}`),
  );
  const built = pack.files.filter((file) => file.startsWith('dist/') && isScript(file));
  expect(built.sort()).toEqual(sources.sort());
});

test('every import of the package is part of it, of Node.js, or of a dependency', () => {
  const files = new Set(pack.files);
  const builtin = new Set(builtinModules);
  const imports = pack.files
    .filter(isScript)
    .flatMap((file) => listImports(file).map((specifier) => ({ file, specifier })));
  const packages = new Set<string>();
  const unknown = imports.filter(({ file, specifier }) => {
    if (specifier.startsWith('node:') || builtin.has(specifier)) return false;
    if (specifier.startsWith('.')) return !files.has(join(dirname(file), specifier));
    packages.add(getPackageName(specifier));
    return false;
  });
  expect(unknown).toEqual([]);
  expect(imports.length).toBeGreaterThan(1_000);
  // Equality also finds a dependency that nothing imports. @bull-board/api resolves this one by name.
  packages.add('@bull-board/ui');
  expect([...packages].sort()).toEqual(Object.keys(manifest.dependencies).sort());
});

test('what package.json names is in the package, which stays small', () => {
  const named = [...Object.values(manifest.bin), ...Object.values(manifest.exports)];
  for (const path of named.map((path) => path.replace(/^\.\//, ''))) {
    expect(pack.files).toContain(path);
    expect(existsSync(join(ROOT, path))).toBe(true);
  }
  expect(pack.unpackedSize).toBeLessThan(3_500_000);
});

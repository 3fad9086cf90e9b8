import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
/** They take longer to load than most commands to run. */
const HEAVY = ['bullmq', '@aws-sdk/client-s3'];

/** Packages that are loaded as soon as a file is: its static imports, and theirs. */
function listPackages(path: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(path)) return packages;
  seen.add(path);
  const imports = readFileSync(path, 'utf8').matchAll(
    /^(?:import|export)\s+(?!type\b)(?:[^;=']*?\sfrom\s+)?'([^']+)';$/gm,
  );
  for (const [, target = ''] of imports) {
    if (!target.startsWith('.')) packages.add(target);
    else for (const each of listPackages(resolve(dirname(path), target), seen)) packages.add(each);
  }
  return packages;
}

const commands = readdirSync(join(ROOT, 'src/cli/commands'), { encoding: 'utf8', recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `src/cli/commands/${name}`);

it.each(['src/cli/main.ts', ...commands])('%s loads neither the queue nor S3 before it uses them', (path) => {
  const packages = listPackages(join(ROOT, path));
  expect(HEAVY.filter((name) => packages.has(name))).toEqual([]);
});

it('status loads no client of Redis, no source, no time zones and no logger', () => {
  const paths = ['src/cli/main.ts', 'config/load-settings.ts', 'src/cli/commands/status.ts'];
  const loaded = new Set(paths.flatMap((path) => [...listPackages(join(ROOT, path))]));
  const unused = ['bowser', 'cron-parser', 'ioredis', 'luxon', 'pino', 'tinyglobby', 'yaml'];
  expect(unused.filter((name) => loaded.has(name))).toEqual([]);
  expect(loaded).toContain('zod');
});

it('finds them where they are imported', () => {
  expect([...listPackages(join(ROOT, 'src/runtime/queues.ts'))]).toContain('bullmq');
  expect([...listPackages(join(ROOT, 'src/state/staging/s3.ts'))]).toContain('@aws-sdk/client-s3');
});

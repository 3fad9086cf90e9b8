import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = new URL('../../', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'backhaul-start-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Files that a command loads, by a hook of the module loader. */
async function countModules(command: string): Promise<number> {
  const list = join(folder, `${command}.txt`);
  const hook = `import { appendFileSync } from 'node:fs';
    export async function load(url, context, next) {
      if (url.startsWith('file:')) appendFileSync(${JSON.stringify(list)}, url + '\\n');
      return next(url, context);
    }`;
  const toDataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(toDataUrl(hook))});`;
  const program = fileURLToPath(new URL('src/setup/backhaul.mjs', ROOT));
  const env = { ...process.env, BACKHAUL_DATA_DIR: join(folder, 'data') };
  // `status` ends with 2 where there is no migration; it has loaded the same by then.
  await run(process.execPath, ['--import', toDataUrl(register), program, command], { env }).catch(
    (error: { code?: unknown }) => expect(error.code).toBe(2),
  );
  return readFileSync(list, 'utf8').trim().split('\n').length;
}

// Clocks tell little on a busy machine; what a start costs is what it loads.
test('--help and status load a few files, not the hundreds that packages consist of', async () => {
  expect(await countModules('--help')).toBeLessThan(25);
  expect(await countModules('status')).toBeLessThan(65);
});

test('modules of packages are functions that V8 compiles with their chunk', () => {
  const chunks = fileURLToPath(new URL('dist/bundle/', ROOT));
  const wrapped = readdirSync(chunks)
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => readFileSync(join(chunks, name), 'utf8').match(/= .*__commonJS\w*\(.*/g) ?? []);
  expect(wrapped.length).toBeGreaterThan(300);
  expect(wrapped.filter((line) => !line.includes('((function('))).toEqual([]);
});

test('sending loads the connections of undici, and neither its fetch nor its WebSockets', async () => {
  const script = `
    await import(${JSON.stringify(new URL('dist/src/deliver/send.js', ROOT).href)});
    const { createRequire } = await import('node:module');
    process.stdout.write(Object.keys(createRequire(import.meta.url).cache).join('\\n'));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: fileURLToPath(ROOT),
  });
  expect(stdout).toMatch(/undici\/lib\/dispatcher\/pool\.js/);
  expect(stdout).not.toMatch(/undici\/lib\/web\/(fetch\/index|websocket\/websocket)\.js/);
});

test('a stack names the built file of the source that it was joined from', async () => {
  const url = (path: string) => JSON.stringify(new URL(path, ROOT).href);
  const script = `
    const { mapStacks } = await import(${url('src/setup/map-stack.mjs')});
    mapStacks(${url('dist/bundle/')});
    const { main } = await import(${url('dist/bundle/main.js')});
    Object.defineProperty(process, 'stderr', { value: null });
    await main(['node', 'backhaul', 'status']).catch((error) => process.stdout.write(error.stack));
    process.exit(0);`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toMatch(/TypeError: .*\n(.*\n)*.*dist\/src\/cli\/\w+\.js:\d+:\d+/);
});

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { listGuideCommands } from '../support/guide-commands.ts';
import { createWorkplace } from '../support/workplace.ts';

/** Downloads every dependency into an empty cache. BACKHAUL_TEST_LONG=1 runs it (one minute each). */
const LONG = process.env['BACKHAUL_TEST_LONG'] === '1';
const TIMEOUT_MS = 600_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
/** Of the machine, where the registry is and whom to trust, and nothing else. */
const KEPT = ['PATH', 'npm_config_registry', 'npm_config_cafile', 'NODE_EXTRA_CA_CERTS'];
const ENV = Object.fromEntries(KEPT.map((name) => [name, process.env[name]]));

describe.runIf(LONG)('the packed tarball', () => {
  const calls: [string, (tarball: string) => string[]][] = [
    ['npx', (tarball) => ['npx', '--yes', tarball, 'demo']],
    ['npm exec', (tarball) => ['npm', 'exec', '--yes', `--package=${tarball}`, '--', 'backhaul', 'demo']],
  ];

  it.each(calls)(
    'runs the demo with %s from an empty folder',
    async (_, getCommand) => {
      const { folder, remove } = createWorkplace();
      try {
        const [home, empty] = [join(folder, 'home'), join(folder, 'empty')];
        mkdirSync(home);
        mkdirSync(empty);
        await run('npm', ['pack', '--ignore-scripts', '--pack-destination', empty], { cwd: ROOT });
        const [tarball = ''] = readdirSync(empty);
        expect(tarball).toMatch(/^backhaul-\d+\.\d+\.\d+\.tgz$/);

        const [program = '', ...args] = getCommand(`./${tarball}`);
        const { stdout, stderr } = await run(program, args, {
          cwd: empty,
          env: { ...ENV, HOME: home, npm_config_cache: join(folder, 'npm-cache') },
          maxBuffer: 16 * 1024 * 1024,
        });
        expect(stdout).toContain('Migration demo');
        expect(stderr).toMatch(/39,336 {2}events in all/);
        expect(readdirSync(empty).sort()).toEqual(['.backhaul', tarball]);
        expect(readdirSync(join(empty, '.backhaul/demo/data'))).toContain('keys.json');
      } finally {
        await remove();
      }
    },
    TIMEOUT_MS,
  );

  it(
    'is installed on a server as docs/deployment.md says',
    async () => {
      const { folder, remove } = createWorkplace();
      try {
        const [pack = '', install = ''] = listGuideCommands().filter((line) => /^(sudo )?npm /.test(line));
        const [program = '', ...packing] = pack.split(' ');
        await run(program, [...packing, '--ignore-scripts', '--pack-destination', folder], { cwd: ROOT });
        const [, npm = '', ...words] = install.split(' ');
        const prefix = join(folder, 'opt/backhaul');
        const env = { ...ENV, HOME: folder };
        await run(
          npm,
          words.map((word) => word.replace('/opt/backhaul', prefix)),
          { cwd: folder, env },
        );
        const { stdout } = await run(join(prefix, 'bin/backhaul'), ['--version'], { cwd: folder, env });
        expect(install).toContain(`backhaul-${stdout.trim()}.tgz`);
      } finally {
        await remove();
      }
    },
    TIMEOUT_MS,
  );
});

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMigration } from '../../src/state/migrations.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

/** The scripts of `backhaul completion`, in the shells that they are for. */

let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backhaul-completion-'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(resolve('src/setup/backhaul.mjs'), join(bin, 'backhaul'));
  env = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: folder,
    TERM: 'dumb',
    BACKHAUL_DATA_DIR: join(folder, 'data'),
  };
  mkdirSync(join(folder, 'data'));
  for (const name of ['shop', 'web.2023'])
    await createMigration(createFolderStaging(join(folder, 'data', 'staging')), {
      id: name,
      name,
      identity: {},
      identitySha256: '',
      mapping: 'segment@3',
      destination: 'bundled API',
      files: [],
      createdAt: '2024-04-01T00:00:00Z',
      opening: { manifest: { name, source: { type: 'segment', from: ['x.jsonl'] } }, baseDir: folder },
    });
  writeFileSync(join(folder, 'move it.yaml'), '');
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(
      join(folder, shell),
      execFileSync(join(bin, 'backhaul'), ['completion', shell], { env, encoding: 'utf8' }),
    );
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const quote = (word: string) => `'${word}'`;
/** Has a shell complete the last of these words, and prints a candidate a line. */
const SHELLS: Readonly<
  Record<string, (words: readonly string[]) => readonly [program: string, ...string[]]>
> = {
  bash: (words) => [
    'bash',
    '--norc',
    '-c',
    `source ./bash; COMP_WORDS=(${words.map(quote).join(' ')}); COMP_CWORD=${words.length - 1}
     _backhaul; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // What completion itself provides is replaced by functions that print what they are given.
  zsh: (words) => [
    'zsh',
    '-f',
    '-c',
    `compdef() { : }; _files() { print -l -- *(N) }
     _describe() { for one in "\${(@P)2}"; do print -r -- "\${\${one%%:*}}"; done }
     source ./zsh; words=(${words.map(quote).join(' ')}); CURRENT=${words.length}; _backhaul`,
  ],
  fish: (words) => ['fish', '--no-config', '-c', `source ./fish; complete -C '${words.join(' ')}'`],
};

describe.each(Object.keys(SHELLS))('%s', (shell) => {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  const complete = (...words: string[]): string[] => {
    const [program, ...args] = SHELLS[shell]?.(['backhaul', ...words]) ?? [''];
    const { stdout, stderr } = spawnSync(program, args, { env, cwd: folder, encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout
      .split('\n')
      .map((line) => line.split('\t')[0]?.trim() ?? '')
      .filter((line) => line !== '');
  };

  it.skipIf(!isThere)('completes commands, options, names of migrations and of files', () => {
    expect(complete('re')).toEqual(expect.arrayContaining(['resume', 'report', 'rejects']));
    expect(complete('rejects', '')).toEqual(expect.arrayContaining(['ls', 'show', 'replay']));
    expect(complete('run', '--t')).toContain('--top-up');
    expect(complete('status', '').sort()).toEqual(['shop', 'web.2023']);
    expect(complete('plan', 'mo').some((file) => file.startsWith('move'))).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { suggest } from '../../../src/cli/completion/suggest.ts';
import { buildProgram } from '../../../src/cli/program.ts';

const program = buildProgram(() => {});
const values = (...typed: string[]) => suggest(program, typed).words.map(({ value }) => value);
const also = (...typed: string[]) => suggest(program, typed).also;

describe('what may stand where the cursor is', () => {
  it('is every command at the beginning, and in a group its commands', () => {
    expect(values('')).toEqual(expect.arrayContaining(['init', 'run', 'rejects', 'help']));
    expect(values('rejects', '')).toEqual(['ls', 'show', 'replay', 'help']);
    expect(values('keys', 'l')).toContain('list');
    expect(suggest(program, ['']).words.every(({ description }) => description.length > 0)).toBe(true);
  });

  it('is an option of the command or of the program, none that is hidden, behind a hyphen', () => {
    expect(values('run', '-')).toEqual(['--help', '--json', '--produce-only', '--top-up', '--version']);
    expect(values('rejects', 'show', 'shop', '--')).toEqual(
      expect.arrayContaining(['--reason', '--limit', '--json', '--help']),
    );
    expect(values('run', '--', '-')).toEqual([]);
  });

  it.each([
    [['plan', ''], 'files'],
    [['plan', '--full', ''], 'files'],
    [['plan', '--sample', '5', ''], 'files'],
    [['plan', '--sample=5', ''], 'files'],
    [['plan', 'move.yaml', '--html', ''], 'files'],
    [['plan', 'move.yaml', ''], undefined],
    [['plan', '--sample', ''], undefined],
    [['init', 'exports/'], 'files'],
    [['doctor', ''], 'files'],
    [['flags', 'load', ''], 'files'],
    [['rejects', 'replay', 'shop', '--manifest', ''], 'files'],
    [['resume', ''], 'migrations'],
    [['status', '--watch', 'sh'], 'migrations'],
    [['--json', 'status', ''], 'migrations'],
    [['rejects', 'ls', ''], 'migrations'],
    [['persons', 'send', 'a', ''], 'migrations'],
    [['resume', 'shop', ''], undefined],
    [['projects', 'rename', '2', ''], undefined],
    [['users', 'remove', ''], undefined],
    [['nonsense', 'more', ''], undefined],
    [[''], undefined],
    [[], undefined],
  ])('%j: %s', (typed, expected) => {
    expect(also(...typed)).toBe(expected);
  });

  it('is a shell for the script itself', () => {
    expect(values('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainRefusal, type Refusal } from '../../src/migrations/lifecycle.ts';
import { listMessages } from './list-messages.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');

/** What ends or pauses a run is written here; other rooms answer requests or check options. */
const ROOMS = [
  ...['deliver', 'embedded', 'identity', 'pipeline', 'runtime', 'sources', 'state'].map(
    (room) => `src/${room}`,
  ),
  ...['manifest', 'move', 'persons', 'plan', 'rejects', 'remove', 'run', 'verify'].map(
    (room) => `src/migrations/${room}`,
  ),
  'config/manifest',
];
/** Fewer fixed characters name nothing, such as "… …: …". */
const LEAST_FIXED = 12;

/** The spans of code in the first column, each as its fixed pieces. */
const symptoms = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Exit'))
  .flatMap((line) => [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, text = '']) => text))
  .map((text) => ({
    text,
    pieces: text
      .split('…')
      .map((piece) => piece.trim())
      .filter(Boolean),
  }));

const fits = (pieces: readonly string[], text: string): boolean => {
  let at = 0;
  return pieces.every((piece) => {
    const found = text.indexOf(piece, at);
    at = found + piece.length;
    return found >= 0;
  });
};

describe('the runbook', () => {
  const messages = listMessages(ROOT, ROOMS).filter(
    // A word alone is a code.
    ({ text }) => text.includes(' ') && text.replace(/[….:;,() ]/g, '').length >= LEAST_FIXED,
  );

  it('reads the messages of the source', () => expect(messages.length).toBeGreaterThan(120));

  it('has a row for every message that ends or pauses a run', () => {
    const known = symptoms.filter(({ pieces }) => pieces.join('').length >= 6);
    const missing = messages.filter(({ text }) => !known.some(({ pieces }) => fits(pieces, text)));
    expect(missing.map(({ place, text }) => `${place} ${text}`)).toEqual([]);
  });

  it('has a row for every refusal of a command', () => {
    const refusals: Record<Refusal, true> = {
      no_such_migration: true,
      resume_first: true,
      nothing_to_pause: true,
      nothing_to_cancel: true,
      still_running: true,
      removed: true,
      moved: true,
      importing: true,
      superseded: true,
    };
    const texts = (Object.keys(refusals) as Refusal[])
      // Shown with the command that continues it.
      .filter((refusal) => refusal !== 'resume_first')
      .map((refusal) => explainRefusal(refusal, { name: 'a', state: 'running', reason: '' }));
    expect(texts.filter((text) => !symptoms.some(({ pieces }) => fits(pieces, text)))).toEqual([]);
  });

  it('shows no message that the source does not have', () => {
    const sources = ['src', 'config', 'jobs']
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.ts'))
          .map((name) => readFileSync(join(ROOT, folder, name), 'utf8')),
      )
      // Literals that are joined over lines are one text.
      .map((text) => text.replace(/['`] \+\s*['`]/g, '').replace(/\\(['"`])/g, '$1'));
    const unknown = symptoms.filter(({ pieces }) => !sources.some((text) => fits(pieces, text)));
    expect(unknown.map(({ text }) => text)).toEqual([]);
  });
});

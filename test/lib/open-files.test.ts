import { expect, it } from 'vitest';
import { UnavailableError } from '../../src/lib/errors.ts';
import { explainOpenFiles } from '../../src/lib/open-files.ts';
import { toFolderError } from '../../src/state/staging/folder-errors.ts';

const fail = (code: string) => Object.assign(new Error(`${code}: open 'a'`), { code });

it('says whose limit of open files is to be raised', () => {
  expect(explainOpenFiles(fail('EMFILE'))).toMatch(/EMFILE.*ulimit -n/);
  expect(explainOpenFiles(new Error('wrapped', { cause: fail('ENFILE') }))).toMatch(/fs\.file-max/);
  expect(explainOpenFiles(fail('ENOENT'))).toBeUndefined();
  expect(explainOpenFiles('EMFILE')).toBeUndefined();
});

it('a staging folder without a file to spare is tried again', () => {
  const error = toFolderError(fail('EMFILE'), 'folder /a', 'write b');
  expect(error).toBeInstanceOf(UnavailableError);
  expect(String(error)).toMatch(/folder \/a: could not write b, no more files/);
});

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { importing, line, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';

/** Files that are gone before their end: they fail, as damaged ones do, and everything else goes on. */
let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const pathOf = (name: string, file: string) => join(lab.workplace.folder, name, file);

const lines = (name: string, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => line(`${name}-${from + index}`));

const packed = (name: string): Buffer => gzipSync(lines(name, 900, 902).join('\n'));

/** One damaged file among good ones of a record each; in a first run the good ones arrive. */
async function begin(name: string, files: number, from: string | string[] = name) {
  mkdirSync(join(lab.workplace.folder, name), { recursive: true });
  const mapping = {
    event: { column: 'e' },
    distinctId: { column: 'u' },
    timestamp: { column: 't' },
    key: ['n'],
  };
  const loaded = await lab.writeManifest(name, { source: { type: 'jsonl', from, mapping } });
  for (let number = 0; number < files; number += 1)
    lab.writeFile(name, number === 0 ? 'a.json' : `${number}.json`, lines(name, number, number + 1));
  writeFileSync(pathOf(name, 'bad.gz'), packed(name).subarray(0, 30));
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'failed' });
  rmSync(pathOf(name, 'bad.gz'));
  return loaded;
}

/** The run ended with the file named, and with so many records in. */
const failed = (name: string, delivered: number) => ({
  kind: 'failed',
  failures: [{ reason: expect.stringContaining(`${name}/bad.gz is gone, and was not staged to its end`) }],
  report: {
    counts: { delivered },
    unfinished: { files: [`${name}/bad.gz`], failures: [expect.anything()] },
  },
});

it.each([
  ['by itself', 'alone', 2],
  ['among files that are staged together', 'grouped', 40],
])('keeps nothing else from a run, a resume or a top-up: %s', async (_, name, files) => {
  const { runtime } = lab;
  const loaded = await begin(name, files);
  expect(await startMigration(runtime, loaded, importing())).toMatchObject(failed(name, files));
  expect(await resumeMigration(runtime, name, importing())).toMatchObject(failed(name, files));
  lab.writeFile(name, 'new.json', lines(name, 500, 503));
  expect(await startMigration(runtime, loaded, importing({ topUp: true }))).toMatchObject(
    failed(name, files + 3),
  );
  // The one that was damaged comes whole.
  writeFileSync(pathOf(name, 'bad.gz'), packed(name));
  expect(await resumeMigration(runtime, name, importing())).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts: { read: files + 5, delivered: files + 5 } },
  });
});

it('keeps nothing else from a resume where the source names it, or where no file is left of it', async () => {
  const { runtime } = lab;
  await begin('listed', 2, ['listed/bad.gz', 'listed/a.json', 'listed/1.json']);
  expect(await resumeMigration(runtime, 'listed', importing())).toMatchObject(failed('listed', 2));
  for (const file of ['a.json', '1.json']) rmSync(pathOf('listed', file));
  expect(await resumeMigration(runtime, 'listed', importing())).toMatchObject(failed('listed', 2));

  await begin('emptied', 2);
  for (const file of ['a.json', '1.json']) rmSync(pathOf('emptied', file));
  expect(await resumeMigration(runtime, 'emptied', importing())).toMatchObject(failed('emptied', 2));
  // A folder that is not there may be one that is not mounted.
  rmSync(join(lab.workplace.folder, 'emptied'), { recursive: true });
  await expect(resumeMigration(runtime, 'emptied', importing())).rejects.toThrow('source.from: "emptied"');
});

it('is a source in the wrong place where nothing of it was staged', async () => {
  const loaded = await lab.writeManifest('never');
  const stop = new AbortController();
  const onBegin = () => stop.abort(new Error('killed'));
  await startMigration(lab.runtime, loaded, importing({ signal: stop.signal, onBegin }));
  rmSync(pathOf('never', 'a.json'));
  await expect(resumeMigration(lab.runtime, 'never', importing())).rejects.toThrow('matches no file');
});

it('offers the choices that help', async () => {
  const { runtime } = lab;
  const loaded = await lab.writeManifest('choices');
  await startMigration(runtime, loaded, importing());
  const run = (more = {}) =>
    startMigration(runtime, loaded, importing(more)).then(
      () => '',
      (error: unknown) => String(error),
    );
  lab.writeFile('choices', 'b.json', [line('choices-b')]);
  const ofNew = await run();
  expect(ofNew).toContain('choices/b.json is new');
  expect(ofNew).toContain('Choices: take the new files in with run --top-up, or continue without them');
  expect(ofNew).not.toContain('put back');
  lab.writeFile('choices', 'a.json', [line('choices-other')]);
  for (const more of [{}, { topUp: true }]) {
    const ofBoth = await run(more);
    expect(ofBoth).toContain('choices/a.json had');
    expect(ofBoth).toContain('Choices: put back what it was and run again;');
    expect(ofBoth).not.toContain('--top-up');
  }
});

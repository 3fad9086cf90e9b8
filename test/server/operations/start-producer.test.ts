import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProducers, type Producers } from '../../../src/server/operations/start-producer.ts';

/** Notes that it was started, and says that it runs, or what is wrong. */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
appendFileSync(process.argv[2], 'started ');
if (process.argv[3] === 'fail') { console.log('the key is not set'); process.exit(2); }
process.on('SIGTERM', () => process.exit(0));
setInterval(() => {}, 1000);
process.send({ migration: 'shop' });
`;

let folder: string;
let producers: Producers;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-producers-'));
  await writeFile(join(folder, 'program.mjs'), PROGRAM);
  producers = createProducers(folder, join(folder, 'program.mjs'));
});
afterAll(async () => {
  await producers.close();
  await rm(folder, { recursive: true, force: true });
});

it('starts one process where the same is asked for twice, and another once that one runs', async () => {
  const note = join(folder, 'note');
  const both = await Promise.all([producers.start([note]), producers.start([note])]);
  expect(both).toEqual([
    { kind: 'running', migration: 'shop' },
    { kind: 'running', migration: 'shop' },
  ]);
  expect(await readFile(note, 'utf8')).toBe('started ');
  await producers.start([note]);
  expect(await readFile(note, 'utf8')).toBe('started started ');
});

it('says what a process said that ended at once', async () => {
  const start = await producers.start([join(folder, 'failed'), 'fail']);
  expect(start).toEqual({ kind: 'ended', code: 2, said: 'the key is not set' });
});

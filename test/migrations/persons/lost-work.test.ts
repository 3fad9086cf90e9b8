import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dropDamaged } from '../../../src/migrations/persons/drop-damaged.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { createPersonsBench, type PersonsBench, runOptions, type Seen } from './persons-bench.ts';

let bench: PersonsBench;
let staging: string;
beforeAll(async () => {
  bench = await createPersonsBench();
  staging = bench.runtime.staging.location.replace(/^folder /, '');
});
afterAll(() => bench?.close());

const overwrite = { people: { overwrite: true } };
const plan = 'free';

/** Answers as the service does `accepted` times, and refuses the key afterwards. */
function refuseKeyAfter(accepted: number): void {
  let batches = 0;
  bench.destination.overrule(() => {
    batches += 1;
    return batches > accepted ? { status: 401, body: '{"detail":"no"}' } : undefined;
  });
}

/** A turn that was interrupted after so many batches: one of events, one of merges, one of properties. */
async function interrupt(name: string, batches: number): Promise<string[]> {
  const seen: Seen[] = [1, 2, 3].map((n) => ({ user: `${name}-u${n}`, device: `${name}-d${n}`, plan }));
  refuseKeyAfter(batches);
  const paused = await startMigration(bench.runtime, await bench.write(name, seen, overwrite), runOptions);
  expect(paused).toMatchObject({ kind: 'held', state: 'paused' });
  bench.destination.overrule(undefined);
  const below = join(staging, name, 'people', 'work');
  return readdirSync(below, { recursive: true, encoding: 'utf8' }).map((path) => join(below, path));
}

const flip = (path: string) => {
  const body = readFileSync(path);
  body[body.length >> 1] = (body[body.length >> 1] ?? 0) ^ 1;
  writeFileSync(path, body);
};
const cut = (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 9));

describe('working data of persons', () => {
  it('is kept where it is whole', async () => {
    const work = await interrupt('whole', 2);
    const turn = Number(/\/work\/(\d+)\/resolved\/.*\.json$/m.exec(work.join('\n'))?.[1]);
    expect(turn).toBeGreaterThan(0);
    expect(await dropDamaged(bench.runtime.staging, 'whole', turn)).toEqual([]);
    expect(await resumeMigration(bench.runtime, 'whole', runOptions)).toMatchObject({ kind: 'finished' });
    bench.takeSent();
  });

  it.each([
    ['facts that are gone', 2, /\/facts\/.*\d+-\d+-\d+\.gz$/, rmSync],
    ['facts with another bit', 2, /\/facts\/.*\d+-\d+-\d+\.gz$/, flip],
    ['merges that are gone', 1, /merges-\d+\.gz$/, rmSync],
    ['a receipt of resolving that is cut off', 2, /\/resolved\/.*\.json$/, cut],
    ['a receipt of merging that is cut off', 2, /\/merged\/.*\.json$/, cut],
  ] as const)('is made again where it is lost: %s', async (what, batches, pattern, damage) => {
    const name = what.replaceAll(' ', '-');
    const objects = (await interrupt(name, batches)).filter((path) => pattern.test(path));
    expect(objects).not.toEqual([]);
    for (const path of objects) damage(path);

    const resumed = await resumeMigration(bench.runtime, name, runOptions);
    expect(resumed).toMatchObject({ kind: 'finished', report: { balanced: true, people: { pairs: 3 } } });
    const { merges, properties } = bench.takeSent();
    expect(merges).toEqual([1, 2, 3].map((n) => `${name}-d${n} → ${name}-u${n}`));
    expect(properties).toEqual([1, 2, 3].map((n) => JSON.stringify({ id: `${name}-u${n}`, $set: { plan } })));
  });
});

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { createPersonsBench, type PersonsBench } from './persons-bench.ts';

/** What is known of the persons of a project is dropped, whichever of its names and keys the next migration has. */

let bench: PersonsBench;
beforeEach(async () => {
  bench = await createPersonsBench();
  onTestFinished(() => bench.close());
});

const DESTINATIONS = {
  key: { apiKey: '${KEY}' },
  named: { apiKey: '${KEY}', project: 'shop' },
  'named, next key': { apiKey: '${NEXT_KEY}', project: 'shop' },
  'next key': { apiKey: '${NEXT_KEY}' },
} as const;
type At = keyof typeof DESTINATIONS;

const run = (name: string, at: At, user: string, device: string) =>
  bench.run(name, [{ user, device }], { destination: { url: bench.destination.url, ...DESTINATIONS[at] } });
const forget = (name: string) =>
  removeMigration(bench.runtime, name, {
    forget: true,
    resolveLedger: () => {
      throw new Error('to forget it needs no key');
    },
  });

/** All but one say nothing of the kiosk. */
interface Chain {
  readonly before: readonly At[];
  readonly forgotten: At;
  readonly after: readonly At[];
}

describe('after rm --forget nothing is merged', () => {
  it.each<Chain>([
    { before: [], forgotten: 'key', after: ['named'] },
    { before: [], forgotten: 'named', after: ['key'] },
    { before: [], forgotten: 'key', after: ['named', 'named, next key', 'next key'] },
    { before: [], forgotten: 'named', after: ['named, next key', 'next key'] },
    { before: ['named'], forgotten: 'key', after: ['named'] },
    { before: ['named', 'named, next key'], forgotten: 'key', after: ['next key'] },
    { before: ['named, next key'], forgotten: 'named', after: ['next key'] },
  ])('$before, then $forgotten is forgotten, then $after', async ({ before, forgotten, after }) => {
    for (const [n, at] of before.entries()) await run(`before-${n}`, at, `b${n}`, `phone-b${n}`);
    await run('given-up', forgotten, 'rosa', 'kiosk');
    await forget('given-up');
    bench.takeSent();
    for (const [n, at] of after.entries()) {
      const { people } = await run(`after-${n}`, at, 'tom', 'kiosk');
      expect(people.setAside, at).toEqual({ ledger_forgotten: 1 });
    }
    expect(bench.takeSent().merges).toEqual([]);
  });
});

it('another service with the same key goes on merging', async () => {
  const { url } = bench.destination;
  const there = url.replace('127.0.0.1', 'localhost');
  const at = (destination: object) => ({ destination: { apiKey: '${KEY}', ...destination } });
  const here = at({ url, project: 'shop', service: new URL(url).host });
  await bench.run('given-up', [{ user: 'rosa', device: 'kiosk' }], here);
  await forget('given-up');
  const other = at({ url: there, project: 'store', service: new URL(there).host });
  await bench.run('other', [{ user: 'tom', device: 'phone' }], other);
  await bench.run('again', [{ user: 'una', device: 'tablet' }], here);
  expect(bench.takeSent().merges).toEqual(['kiosk → rosa', 'phone → tom']);
});

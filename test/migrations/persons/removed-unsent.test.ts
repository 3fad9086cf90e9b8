import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { cancelMigration } from '../../../src/migrations/control.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { startMigration } from '../../../src/migrations/start.ts';
import { createPersonsBench, type PersonsBench, runOptions, type Seen } from './persons-bench.ts';

/** A migration that was given up before its persons were sent is removed; its project has, or had, another name. */

let bench: PersonsBench;
beforeEach(async () => {
  bench = await createPersonsBench();
  onTestFinished(() => bench.close());
});
const at = (project?: string) => ({
  destination: {
    url: bench.destination.url,
    apiKey: '${KEY}',
    ...(project === undefined ? {} : { project }),
  },
});
const remove = (name: string) =>
  removeMigration(bench.runtime, name, {
    resolveLedger: (manifest) => resolveLedger(manifest, { env: bench.env, bundled: undefined }),
  });
async function stopBeforePersons(name: string, seen: readonly Seen[], manifest: object): Promise<void> {
  const end = new AbortController();
  const ended = await startMigration(bench.runtime, await bench.write(name, seen, manifest), {
    ...runOptions,
    signal: end.signal,
    onStatus: ({ phase }) => {
      if (phase === 'people') end.abort(new Error('stopped here'));
    },
  });
  expect(ended.kind).toBe('stopped');
}
const KIOSK_OF_ROSA = [{ user: 'rosa', device: 'kiosk' }];
const LATER = [
  { user: 'tom', device: 'kiosk' },
  { user: 'una', device: 'phone' },
];
/** What was known before; what the migration began as, and continued as; and what comes later. */
interface Case {
  readonly before: 'name' | 'key' | 'neither';
  readonly begun: readonly ('name' | 'key')[];
}

it.each<Case>([
  { before: 'neither', begun: ['key', 'name'] },
  { before: 'key', begun: ['key', 'name'] },
  { before: 'name', begun: ['key', 'name'] },
  { before: 'key', begun: ['name'] },
  { before: 'name', begun: ['key'] },
])(
  '$before was known, $begun: what comes next as the last of them is decided over it',
  async ({ before, begun }) => {
    const as = (by: string | undefined) => at(by === 'name' ? 'shop' : undefined);
    if (before !== 'neither') await bench.run('before', [{ user: 'olaf', device: 'laptop' }], as(before));
    for (const by of begun) await stopBeforePersons('unsent', KIOSK_OF_ROSA, as(by));
    await cancelMigration(bench.runtime, 'unsent', 'not wanted');
    await remove('unsent');
    bench.takeSent();
    const { people } = await bench.run('later', LATER, as(begun.at(-1)));
    expect(people.setAside).toEqual({ shared_device: 1 });
    expect(bench.takeSent().merges).toEqual(['phone → una']);
    // Where another one knew it as well, that one still does.
    const next = before === 'neither' ? begun.at(-1) : before;
    await bench.run('again', [{ user: 'ida', device: 'kiosk' }], as(next));
    expect(bench.takeSent().merges).toEqual([]);
  },
);

import { expect, it } from 'vitest';
import { parseStoredManifest } from '../../../config/manifest/load-manifest.ts';
import { manifestIdentity } from '../../../config/manifest/manifest-identity.ts';
import { assertHeeded } from '../../../src/migrations/rejects/assert-heeded.ts';
import { createMigration, type MigrationRecord } from '../../../src/state/migrations.ts';
import { createMemoryStaging } from '../../support/memory-staging.ts';

const HASH = { hash: { columns: ['email'], key: '${KEY}' } };
const NESTED = { exclude: ['user.email'] };

const toManifest = (name: string, more: object) => {
  const mapping = {
    event: { column: 'e' },
    distinctId: { column: 'u' },
    timestamp: { column: 't' },
    ...more,
  };
  return parseStoredManifest({ name, source: { type: 'jsonl', from: 'exports', mapping } }, 'here');
};

/** A migration of that version of the mapping, and a replay of it. */
async function begin(version: number, { first = {}, replay = first }: { first?: object; replay?: object }) {
  const staging = createMemoryStaging();
  const create = async (name: string, more: object, of: Partial<MigrationRecord> = {}) => {
    const manifest = toManifest(name, more);
    const { identity, sha256 } = manifestIdentity(manifest);
    const record: MigrationRecord = {
      ...{ id: `id of ${name}`, name, identity, identitySha256: sha256, mapping: `jsonl@${version}` },
      ...{ destination: 'bundled API', files: [], createdAt: '2024-05-05T00:00:00.000Z' },
      ...{ opening: { manifest, baseDir: '/' }, ...of },
    };
    await createMigration(staging, record);
    return { replayWith: (corrected: object) => assertHeeded(staging, record, toManifest(name, corrected)) };
  };
  const migration = await create('shop', first);
  const later = await create('shop.replay-1', replay, { replays: 'shop', replaysId: 'id of shop' });
  return { migration, later };
}

it('refuses a replay by a mapping that does not know what its manifest hashes', async () => {
  const { migration } = await begin(2, {});
  await expect(migration.replayWith(HASH)).rejects.toThrow(
    /"shop" was begun with mapping jsonl@2, which does not heed source\.mapping\.hash, .*nothing was sent/,
  );
  await expect(migration.replayWith(NESTED)).resolves.toBeUndefined();
  await expect((await begin(3, {})).migration.replayWith(HASH)).resolves.toBeUndefined();
});

it('takes what the migration was begun with', async () => {
  const { migration } = await begin(1, { first: NESTED });
  await expect(migration.replayWith(NESTED)).resolves.toBeUndefined();
  await expect(migration.replayWith({ exclude: ['user.email', 'user.name'] })).rejects.toThrow(
    'source.mapping.exclude',
  );
});

it('refuses a replay of a replay that an earlier version began so', async () => {
  const { later } = await begin(2, { replay: HASH });
  await expect(later.replayWith(HASH)).rejects.toThrow('"shop" was begun with mapping jsonl@2');
});

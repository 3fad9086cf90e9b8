import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { planMigration } from '../../src/migrations/plan.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { createPlanContext } from '../../src/runtime/open-store.ts';
import { AGENT_PARSER } from '../../src/sources/mapping/web/agent.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { toPlacesKey } from '../../src/state/keys/shared.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { importing, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { writeMmdb } from '../support/mmdb.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const toCountry = (code: string, name: string) =>
  writeMmdb({ '81.2.69.0/24': { country: { iso_code: code, names: { en: name } } } });

const toEvent = (uuid: string) =>
  JSON.stringify({
    event_type: 'Opened',
    event_time: '2023-05-01 12:00:00',
    user_id: uuid,
    uuid: `0c3e5a10-1111-4b6e-8f00-0000000000${uuid}`,
    ip_address: '81.2.69.160',
  });

it('pins the file of places that a migration began with, and the parser of user agents', async () => {
  lab.writeFile('placed', 'b.json', [toEvent('c1'), toEvent('c2')]);
  const file = join(lab.workplace.folder, 'places.mmdb');
  writeFileSync(file, toCountry('GB', 'United Kingdom'));
  const source = { type: 'amplitude', from: 'placed/b.json', mapping: undefined, geoip: 'places.mmdb' };
  const loaded = await lab.writeManifest('placed', { source });

  const planned = await planMigration(createPlanContext(lab.settings), loaded, { recordsPerFile: 10 });
  if (planned.kind !== 'planned') throw new Error(planned.reason);
  expect(planned.plan.source.geoip).toBe('places.mmdb');
  expect(planned.plan.pairs[0]?.event).toContainEqual(['$geoip_country_code', 'GB']);

  const finished = await startMigration(lab.runtime, loaded, importing());
  expect(finished).toMatchObject({ kind: 'finished' });
  const sent = JSON.stringify([...lab.destination.events().values()]);
  expect(sent.match(/"\$geoip_country_code":"GB"/g)).toHaveLength(2);
  const { staging } = lab.runtime;
  const record = await loadMigration(staging, 'placed');
  expect(record?.pins).toMatchObject({
    agentParser: AGENT_PARSER,
    places: expect.stringMatching(/^[\da-f]{64}$/),
  });

  // The original may change or go: the migration continues with what it began with.
  writeFileSync(file, toCountry('FR', 'France'));
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
  await rm(file);
  expect(await resumeMigration(lab.runtime, 'placed', importing())).toMatchObject({ kind: 'finished' });
  expect(JSON.stringify([...lab.destination.events().values()])).not.toContain('"FR"');

  const other = { ...record, pins: { agentParser: 'bowser@1.0.0' } };
  const stored = await staging.get(layout('placed').record);
  await staging.put(layout('placed').record, Buffer.from(JSON.stringify(other)));
  await expect(startMigration(lab.runtime, loaded, importing())).rejects.toThrow(
    `user agents were parsed by bowser@1.0.0, this version has ${AGENT_PARSER}`,
  );

  if (stored) await staging.put(layout('placed').record, stored);
  // Removed, it leaves the copy to others, which may have found it there already.
  const places = record?.pins?.places ?? '';
  const removed = await removeMigration(lab.runtime, 'placed', {
    resolveLedger: (manifest) => resolveLedger(manifest, { env: lab.env, bundled: undefined }),
  });
  expect(removed).toEqual({ keptPlaces: toPlacesKey(places) });
  expect(await staging.get(toPlacesKey(places))).toBeDefined();
});

it('refuses a file of places that cannot be read before anything is created', async () => {
  lab.writeFile('misplaced', 'b.json', [toEvent('d1')]);
  const source = { type: 'amplitude', from: 'misplaced/b.json', mapping: undefined, geoip: 'none.mmdb' };
  const loaded = await lab.writeManifest('misplaced', { source });
  await expect(startMigration(lab.runtime, loaded, importing())).rejects.toThrow(
    /source\.geoip: .*none\.mmdb/,
  );
  expect(await loadMigration(lab.runtime.staging, 'misplaced')).toBeUndefined();
});

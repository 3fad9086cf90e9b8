import { afterAll, beforeAll, expect, it } from 'vitest';
import { startMigration } from '../../src/migrations/start.ts';
import { loadView } from '../../src/migrations/status/watch.ts';
import { importing, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { until } from '../support/until.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab.close());

it('says that the destination asks for fewer requests, while it does', async () => {
  lab.destination.overrule({ status: 429, body: '{"detail":"slow down"}' });
  const seen: (string | undefined)[] = [];
  const onStatus = ({ waitingFor }: { waitingFor: string | undefined }) => {
    if (seen.at(-1) !== waitingFor) seen.push(waitingFor);
  };
  const run = startMigration(lab.runtime, await lab.writeManifest('limited'), importing({ onStatus }));
  const waiting = 'the destination: HTTP 429: slow down';
  await until('what it waits for, as the page shows it', async () => {
    const view = await loadView(lab.runtime, 'limited').catch(() => undefined);
    return view?.run?.waitingFor === waiting ? true : undefined;
  });
  lab.destination.overrule(undefined);
  expect((await run).kind).toBe('finished');
  expect(seen).toEqual([waiting, undefined]);
});

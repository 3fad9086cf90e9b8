import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, type TestContext } from 'vitest';
import { killAllBackhaul, parseReport, runBackhaul } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

afterEach(killAllBackhaul);

const API_KEY = 'phc_persons';

async function createBench({ onTestFinished }: TestContext) {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const destination = await startStrictDestination({ apiKey: API_KEY });
  onTestFinished(() => destination.stop());
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const options = { dataDir: workplace.dataDir('cli'), env: { KEY: API_KEY, REDIS_URL: redis.url } };
  const write = (name: string, users: readonly string[]) => {
    const lines = users.map((user) =>
      JSON.stringify({ e: 'seen', user, device: 'tablet-1', t: `${name}-03-01` }),
    );
    writeFileSync(join(workplace.folder, `${name}.ndjson`), `${lines.join('\n')}\n`);
    return workplace.manifest({
      name,
      source: {
        type: 'jsonl',
        from: `${name}.ndjson`,
        timezone: 'UTC',
        mapping: {
          event: { column: 'e' },
          distinctId: { column: ['user', 'device'] },
          anonymousId: { column: 'device' },
          timestamp: { column: 't' },
        },
      },
      destination: { url: destination.url, apiKey: '${KEY}' },
      persons: 'hold',
    });
  };
  return {
    destination,
    write,
    command: (...args: string[]) => runBackhaul(args, options),
    merges: () => [...destination.events().values()].filter(({ event }) => event === '$identify'),
  };
}

it('an export that was split by year and held merges no device that two years share', async (context) => {
  const { destination, write, command, merges } = await createBench(context);
  const manifests = [write('2021', ['alice']), write('2022', ['bob'])];
  for (const manifest of manifests) {
    const ended = await command('run', manifest);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('Held: nothing about persons and groups was sent.');
  }
  const sent = await command('persons', 'send', destination.url, '--json');
  expect(sent.code, sent.stderr).toBe(0);
  expect(sent.stderr).toContain('Sending the persons of 2021, 2022 as migration 2021.persons-1.');
  expect(parseReport(sent).people).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });
  expect(merges()).toEqual([]);

  const again = await command('persons', 'send', manifests[0] ?? '');
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain('No migration holds persons for');
  const named = await command('persons', 'send', '2021');
  expect(named.code).toBe(2);
  expect(named.stderr).toContain('migration "2021" holds no persons');
}, 120_000);

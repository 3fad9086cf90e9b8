import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { loadSettings } from '../../config/load-settings.ts';
import { loadManifest } from '../../config/manifest/load-manifest.ts';
import type { Settings } from '../../config/settings.ts';
import type { ManifestAt } from '../../src/migrations/manifest/stored-manifest.ts';
import { type RunOptions, startMigration } from '../../src/migrations/start.ts';
import { openRuntime, type Runtime } from '../../src/runtime/runtime.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { type StrictDestination, startStrictDestination } from './strict-destination.ts';
import { createWorkplace, type Workplace } from './workplace.ts';

const API_KEY = 'phc_use_cases';

/** The use cases as a server or a schedule calls them: in this process, against a strict destination. */
export interface MigrationLab {
  readonly server: TestRedis;
  readonly redis: Redis;
  readonly workplace: Workplace;
  readonly destination: StrictDestination;
  readonly settings: Settings;
  readonly runtime: Runtime;
  /** For the variables that manifests name. */
  readonly env: { readonly KEY: string };
  /** Writes `<name>/a.json`, two good records and a bad one, and the manifest of a migration of it. */
  writeManifest(name: string, more?: object): Promise<ManifestAt & { path: string }>;
  /** Writes another file of the same shape. */
  writeFile(name: string, file: string, lines: readonly string[]): void;
  close(): Promise<void>;
}

export async function openMigrationLab({
  settings: more = {},
  ...options
}: {
  readonly latencyMs?: number;
  /** Variables that the settings are read from, beside Redis and the data folder. */
  readonly settings?: Readonly<Record<string, string>>;
} = {}): Promise<MigrationLab> {
  const env = { KEY: API_KEY };
  const server = await startRedis();
  const redis = new Redis(server.url);
  const workplace = createWorkplace();
  const destination = await startStrictDestination({ apiKey: API_KEY, ...options });
  const settings = loadSettings({
    ...{ REDIS_URL: server.url, BACKHAUL_DATA_DIR: workplace.dataDir('here') },
    ...more,
  });
  const runtime = await openRuntime(settings, env, { api: false }, pino({ level: 'silent' }));

  const write = (name: string, file: string, lines: readonly string[]) => {
    mkdirSync(join(workplace.folder, name), { recursive: true });
    writeFileSync(join(workplace.folder, name, file), lines.map((each) => `${each}\n`).join(''));
  };
  const writeManifest = async (name: string, more: object = {}) => {
    write(name, 'a.json', [line(`${name}-1`), line(`${name}-2`), line(`${name}-3`, 'yesterday')]);
    const path = workplace.manifest({
      name,
      source: {
        type: 'jsonl',
        from: `${name}/*.json`,
        mapping: {
          event: { column: 'e' },
          distinctId: { column: 'u' },
          timestamp: { column: 't' },
          key: ['n'],
        },
      },
      destination: { url: destination.url, apiKey: '${KEY}' },
      rejects: { failAbove: '50%' },
      ...more,
    });
    return { ...(await loadManifest(path, { env })), path };
  };
  // The first use of a destination: later ones find a count of sent events, and need not wait a window.
  await startMigration(runtime, await writeManifest('first'), importing());

  return {
    server,
    redis,
    workplace,
    destination,
    settings,
    runtime,
    env,
    writeManifest,
    writeFile: write,
    async close() {
      await runtime.close();
      redis.disconnect();
      await destination.stop();
      await server.stop();
      await workplace.remove();
    },
  };
}

/** `n` makes the uuid, so each migration has numbers of its own. */
export const line = (n: string, t = '2024-02-03T04:05:06Z') =>
  JSON.stringify({ e: 'counted', u: `user-${n}`, t, n });

export const importing = (more: Partial<RunOptions> = {}): RunOptions => ({
  signal: new AbortController().signal,
  importHere: true,
  ...more,
});

/** Runs until all is staged, and stops there: no process imports. */
export function stageOnly(reason: string, files = 1): RunOptions {
  const stop = new AbortController();
  return {
    signal: stop.signal,
    importHere: false,
    onStatus: ({ files: { staged }, parts }) => {
      if (staged === files && parts.known === files) stop.abort(new Error(reason));
    },
  };
}

/** A source of records of `line`'s shape, ids of which come from `n`. A corrected one reads `words` as that time. */
export const keyedSource = (name: string, words: readonly string[] = [], time = '2024-02-03T04:05:06Z') => ({
  type: 'jsonl',
  from: `${name}/*.json`,
  mapping: {
    event: { column: 'e' },
    distinctId: { column: 'u' },
    timestamp: { column: 't' },
    key: ['n'],
    values: { t: Object.fromEntries(words.map((word) => [word, time])) },
  },
});

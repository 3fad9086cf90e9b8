import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { loadSettings } from '../../../config/load-settings.ts';
import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import type { ManifestAt } from '../../../src/migrations/manifest/stored-manifest.ts';
import { ledgerLockKey } from '../../../src/migrations/persons/lock/ledger-lock.ts';
import type { Report } from '../../../src/migrations/report/report.ts';
import type { RunStatus } from '../../../src/migrations/run/run-status.ts';
import { type RunOptions, type RunResult, startMigration } from '../../../src/migrations/start.ts';
import { openRuntime, type Runtime } from '../../../src/runtime/runtime.ts';
import { loadMigration } from '../../../src/state/migrations.ts';
import { startRedis } from '../../support/redis.ts';
import {
  type StoredEvent,
  type StrictDestination,
  startStrictDestination,
} from '../../support/strict-destination.ts';
import { createWorkplace } from '../../support/workplace.ts';

const API_KEY = 'phc_persons';
const ROTATED_KEY = 'phc_rotated';
/** Two names of one key, and the key that follows it. */
const KEYS = { KEY: API_KEY, KEY_2: API_KEY, NEXT_KEY: ROTATED_KEY };

/** A record: who, on which device, when, and the person's plan. */
export interface Seen {
  readonly user?: string;
  readonly device?: string;
  readonly time?: string;
  readonly plan?: string;
  /** A group of the event, and a property of it. */
  readonly company?: string;
  readonly size?: string;
  /** Name of the event; those named `ping` are dropped. @default `counted` */
  readonly e?: string;
}

export interface ProjectDestination {
  readonly url: string;
  readonly apiKey: string;
  readonly project: string;
}

/** One project, to which migrations of a few records each are imported in this process. */
export interface PersonsBench {
  readonly runtime: Runtime;
  readonly destination: StrictDestination;
  /** The keys of projects. */
  readonly env: Readonly<Record<string, string>>;
  /** The manifest's destination for a project that has a name, and a key of its own. */
  project(name: string): ProjectDestination;
  write(name: string, seen: readonly Seen[], manifest?: object): Promise<ManifestAt>;
  run(name: string, seen: readonly Seen[], manifest?: object): Promise<Report>;
  /**
   * Runs a migration that gets the ledger of whoever has it, as if that one were gone. Resolves when it waits for what
   * that one has on the wire, or has ended; `ended` when it has.
   */
  overtake(
    name: string,
    seen: readonly Seen[],
    manifest?: object,
  ): Promise<{ readonly ended: Promise<unknown> }>;
  /** Synthetic events that arrived since the last call, merges as `device → user`, properties as JSON. */
  /** Adds a file to the source of a migration that was written before. */
  addFile(loaded: ManifestAt, file: string, seen: readonly Seen[]): void;
  /** Properties of groups that arrived since the start. */
  listGroups(): string[];
  takeSent(): { merges: string[]; properties: string[] };
  close(): Promise<void>;
}

export const runOptions: RunOptions = { signal: new AbortController().signal, importHere: true };

export function getReport(result: RunResult | { readonly kind: string }): Report {
  if ('report' in result) return result.report;
  throw new Error(`no report: ${JSON.stringify(result)}`);
}

export async function createPersonsBench(): Promise<PersonsBench> {
  const server = await startRedis();
  const workplace = createWorkplace();
  const env: Record<string, string> = { ...KEYS };
  const keys = [ROTATED_KEY];
  const destination = await startStrictDestination({ apiKey: API_KEY, otherKeys: keys });
  const settings = loadSettings({ REDIS_URL: server.url, BACKHAUL_DATA_DIR: workplace.dataDir('here') });
  const runtime = await openRuntime(settings, env, { api: false }, pino({ level: 'silent' }));
  const taken = new Set<string>();

  const write: PersonsBench['write'] = (name, seen, manifest = {}) => {
    mkdirSync(join(workplace.folder, name), { recursive: true });
    writeFileSync(join(workplace.folder, name, 'a.json'), toLines(name, seen));
    const path = workplace.manifest({
      name,
      source: {
        type: 'jsonl',
        from: `${name}/*.json`,
        dropEvents: ['ping'],
        mapping: {
          event: { column: 'e' },
          distinctId: { column: ['user', 'device'] },
          anonymousId: { column: 'device' },
          timestamp: { column: 't' },
          key: ['n'],
          person: { set: { columns: ['plan'] } },
          groups: [{ type: 'company', column: 'company', set: { columns: ['size'] } }],
        },
      },
      destination: { url: destination.url, apiKey: '${KEY}' },
      rejects: { failAbove: '90%' },
      ...manifest,
    });
    return loadManifest(path, { env });
  };
  return {
    runtime,
    destination,
    env,
    project(name) {
      const variable = `KEY_OF_${name.replaceAll(/[^a-z\d]/gi, '_').toUpperCase()}`;
      env[variable] = `phc_${name}`;
      keys.push(`phc_${name}`);
      return { url: destination.url, apiKey: `\${${variable}}`, project: name };
    },
    write,
    async run(name, seen, manifest) {
      return getReport(await startMigration(runtime, await write(name, seen, manifest), runOptions));
    },
    async overtake(name, seen, manifest) {
      const loaded = await write(name, seen, manifest);
      const redis = new Redis(server.url);
      /** The lock is this migration's before it looks for it. */
      const take = async () => {
        const holder = { migration: (await loadMigration(runtime.staging, name))?.id, name };
        const lock = JSON.stringify({ ...holder, host: 'elsewhere', pid: 1, token: '', turn: 0 });
        for (const key of await redis.keys(ledgerLockKey('*'))) await redis.set(key, lock);
      };
      let taking: Promise<void> | undefined;
      let ended: Promise<unknown> = Promise.resolve();
      await new Promise<void>((resolve) => {
        const onStatus = ({ phase, waitingFor }: RunStatus) => {
          if (phase === 'people') taking ??= take();
          if (waitingFor?.includes('that may still arrive')) resolve();
        };
        ended = startMigration(runtime, loaded, { ...runOptions, onStatus })
          .finally(() => redis.disconnect())
          .finally(resolve);
      });
      await taking;
      return { ended };
    },
    addFile({ manifest: { name }, baseDir }, file, seen) {
      writeFileSync(join(baseDir, name, file), toLines(`${name}-${file}`, seen));
    },
    listGroups: () =>
      [...destination.events().values()]
        .filter(({ event }) => event === '$group_identify')
        .map(
          ({ properties }) =>
            `${String(properties['$group_key'])} ${JSON.stringify(properties['$group_set'])}`,
        ),
    takeSent() {
      const fresh = [...destination.events().values()].filter(({ uuid }) => !taken.has(uuid));
      for (const { uuid } of fresh) taken.add(uuid);
      const about = (event: StoredEvent) => ({ id: event.distinctId, ...pick(event.properties) });
      const synthetic = fresh.filter(({ event }) => event === '$identify');
      return {
        merges: synthetic
          .filter(({ properties }) => '$anon_distinct_id' in properties)
          .map(({ distinctId, properties }) => `${String(properties['$anon_distinct_id'])} → ${distinctId}`)
          .sort(),
        properties: synthetic
          .filter(({ properties }) => !('$anon_distinct_id' in properties))
          .map((event) => JSON.stringify(about(event)))
          .sort(),
      };
    },
    async close() {
      await runtime.close();
      await destination.stop();
      await server.stop();
      await workplace.remove();
    },
  };
}

function toLines(name: string, seen: readonly Seen[]): string {
  const lines = seen.map(({ time = '2022-01-01T00:00:00Z', ...who }, n) =>
    JSON.stringify({ n: `${name}-${n}`, e: 'counted', t: time, ...who }),
  );
  return `${lines.join('\n')}\n`;
}

const pick = (properties: Record<string, unknown>) =>
  Object.fromEntries(
    ['$set', '$set_once', '$group_set'].flatMap((key) => (key in properties ? [[key, properties[key]]] : [])),
  );

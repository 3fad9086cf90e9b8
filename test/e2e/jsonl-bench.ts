import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { type Ended, runBackhaul } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import {
  type StrictDestination,
  type StrictDestinationOptions,
  startStrictDestination,
} from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

const API_KEY = 'phc_e2e';
export const NAME = 'bad';

/** A folder of JSON lines made by a test, and a strict destination for them. */
export interface JsonlBench {
  readonly folder: string;
  readonly dataDir: string;
  readonly destination: StrictDestination;
  put(path: string, body: Buffer | string): void;
  /** `run` of every file below the folder, or of `from`. */
  run(from?: string | readonly string[]): Promise<Ended>;
  command(...args: string[]): Promise<Ended>;
  /** Path of the manifest of `run`, of every file below the folder. */
  manifest(): string;
  /** Adds this to the destination of the manifest. */
  declare(more: object): void;
  /** What the commands find in BACKHAUL_PROJECT_API_KEY from here on. */
  useKey(apiKey: string): void;
  /** The numbers of the records that arrived, in order. */
  arrived(): number[];
}

export interface JsonlBenchOptions extends Partial<StrictDestinationOptions> {
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  /**
   * Whether the commands start their own Redis. Default false: one that outlives them keeps the count of
   * sent events, and a resumed run need not wait a window.
   */
  readonly embedded?: boolean;
  readonly limits?: object;
  /** Added to the manifest. */
  readonly more?: object;
}

export async function createJsonlBench(
  { onTestFinished }: TestContext,
  {
    env = {},
    dataDir: givenDataDir,
    embedded = false,
    limits,

    more,
    ...strict
  }: JsonlBenchOptions = {},
): Promise<JsonlBench> {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const destination = await startStrictDestination({ apiKey: API_KEY, ...strict });
  onTestFinished(() => destination.stop());
  const redis = embedded ? undefined : await startRedis();
  onTestFinished(() => redis?.stop());
  const dataDir = givenDataDir ?? workplace.dataDir('embedded');
  let key = API_KEY;
  let declared: object = {};
  const command = (...args: string[]) =>
    runBackhaul(args, {
      dataDir,
      env: { BACKHAUL_PROJECT_API_KEY: key, ...(redis ? { REDIS_URL: redis.url } : {}), ...env },
    });

  const manifest = (from: string | readonly string[] = 'in/**/*') =>
    workplace.manifest({
      name: NAME,
      source: {
        type: 'jsonl',
        from,
        mapping: {
          event: { column: 'e' },
          distinctId: { column: 'u' },
          timestamp: { column: 't' },
          key: ['n'],
        },
      },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}', ...declared },
      rejects: { failAbove: '50%' },
      ...(limits ? { limits } : {}),
      ...more,
    });

  return {
    folder: workplace.folder,
    dataDir,
    destination,
    put(path, body) {
      const at = join(workplace.folder, 'in', path);
      mkdirSync(dirname(at), { recursive: true });
      writeFileSync(at, body);
    },
    run: (from) => command('run', '--json', manifest(from)),
    manifest: () => manifest(),
    command,
    declare(more) {
      declared = more;
    },
    useKey(apiKey) {
      key = apiKey;
    },
    arrived: () =>
      [...destination.events().values()]
        .filter(({ event }) => event === 'counted')
        .map(({ properties }) => Number(properties['n']))
        .sort((a, b) => a - b),
  };
}

/** Good records with these numbers, a line each. */
export const lines = (from: number, to: number): string =>
  numbers(from, to)
    .map((n) => `${line(n)}\n`)
    .join('');

export const line = (n: number, more: object = {}): string =>
  JSON.stringify({ e: 'counted', u: `user-${n % 7}`, t: '2024-02-03T04:05:06Z', n, ...more });

export const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

/** What everyone gets who runs into a fault: the file, in words, and no stack. */
export function expectFault(ended: Ended, code: number, ...words: (string | RegExp)[]): void {
  expect(ended.code, ended.stderr).toBe(code);
  for (const word of words) expect(ended.stderr).toMatch(word);
  expect(ended.stderr).not.toMatch(/bug in Backhaul|\n {4}at /);
}

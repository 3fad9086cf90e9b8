import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BackhaulProcess, type Ended, runBackhaul, startBackhaul } from './backhaul-process.ts';
import type { StrictDestination } from './strict-destination.ts';
import type { Workplace } from './workplace.ts';

/** A data folder, a Redis and a staging of its own. */
export interface Machine {
  readonly dataDir: string;
  readonly staging: string;
  start(...args: string[]): BackhaulProcess;
  command(...args: string[]): Promise<Ended>;
}

/** Of every machine: they share one API, which needs no budget and so no wait after another Redis took over. */
export const API_KEY = 'phc_machines';

export function createMachine(
  workplace: Workplace,
  name: string,
  api: StrictDestination,
  env: Readonly<Record<string, string>> = {},
): Machine {
  const dataDir = workplace.dataDir(name);
  mkdirSync(dataDir, { mode: 0o700 });
  const keys = { projectKey: API_KEY, personalKey: 'phx_machines', queuesPassword: 'machines' };
  writeFileSync(join(dataDir, 'keys.json'), JSON.stringify(keys));
  const options = { dataDir, env: { BACKHAUL_API_URL: api.url, ...env } };
  return {
    dataDir,
    staging: join(dataDir, 'staging'),
    start: (...args) => startBackhaul(args, options),
    command: (...args) => runBackhaul(args, options),
  };
}

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toBackhaulEnv } from './backhaul-env.ts';
import type { Lab } from './lab.ts';
import { startService } from './script.ts';

/** The bundled API of a checkout, with a data folder of its own. */
export interface BenchApi {
  readonly url: string;
  /** Of `backhaul serve`, whose child is the API. */
  readonly pid: number;
  readonly projectKey: string;
  readonly personalKey: string;
  /** Removes the data folder as well. */
  stop(): Promise<void>;
}

/** `databaseUrl`: undefined for the embedded database. */
export async function startApi(lab: Lab, root: string, databaseUrl: string | undefined): Promise<BenchApi> {
  const folder = await lab.createFolder('api');
  await lab.redis.clear();
  const program = [...lab.pinning.contender(1), process.execPath, join(root, 'src/setup/backhaul.mjs')];
  const serve = await startService([...program, 'serve', '--json'], {
    ...process.env,
    ...toBackhaulEnv(join(folder, 'data'), lab.redis.url),
    DATABASE_URL: databaseUrl,
  });
  const { url } = JSON.parse(serve.line) as { url: string };
  const keys = JSON.parse(readFileSync(join(folder, 'data/keys.json'), 'utf8')) as {
    projectKey: string;
    personalKey: string;
  };
  return {
    url,
    pid: serve.process.pid ?? 0,
    projectKey: keys.projectKey,
    personalKey: keys.personalKey,
    async stop() {
      const closed = once(serve.process, 'close');
      serve.process.kill('SIGTERM');
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

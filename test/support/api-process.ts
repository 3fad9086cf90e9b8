import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { toBuilt } from './build.ts';

export interface ApiProcess {
  readonly child: ChildProcess;
  readonly url: string;
  /** Exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

export interface ApiProcessOptions {
  readonly dataDir: string;
  /** Left out: the embedded database. */
  readonly databaseUrl?: string;
  readonly keys: { readonly projectKey: string; readonly personalKey: string };
  readonly heapMb?: number;
}

/** The compiled API in a process of its own. SIGTERM closes it in order. */
export async function startApiProcess(options: ApiProcessOptions): Promise<ApiProcess> {
  const { dataDir, databaseUrl, keys, heapMb } = options;
  const program = `
    import pino from 'pino';
    const { startApi } = await import(${JSON.stringify(toBuilt('src/server/server.js'))});
    const api = await startApi({
      ...${JSON.stringify({ dataDir, databaseUrl, bootstrap: keys })},
      port: 0,
      log: pino({ level: 'silent' }),
    });
    console.log(api.url);
    process.once('SIGTERM', () => api.close().then(() => console.log('closed')));
  `;
  const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`];
  const child = spawn(process.execPath, [...flags, '--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const died = ended.then((code) => Promise.reject(new Error(`the API ended with ${code}`)));
  const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), died]);
  died.catch(() => undefined); // its end is the caller's own doing from here on
  return { child, url: String(url), ended };
}

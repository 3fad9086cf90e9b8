import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endAtExit } from './at-exit.ts';

export interface RunningServer {
  readonly pid: number;
  stop(): Promise<void>;
}

interface ServerOptions extends Pick<SpawnOptions, 'uid' | 'gid' | 'cwd' | 'env'> {
  /** What it logs once it accepts connections. */
  readonly ready: RegExp;
  /** The signal that ends it. */
  readonly stop: NodeJS.Signals;
}

/** A server of another project, such as Redis, which ends with this process. */
export async function startServer(
  command: readonly string[],
  { ready, stop, ...options }: ServerOptions,
): Promise<RunningServer> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close');
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: string) => {
      log = `${log}${chunk}`.slice(-4000);
      if (ready.test(log)) resolve();
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}:\n${log}`)));
  });
  const hasEnded = endAtExit(() => void child.kill(stop));
  return {
    pid: child.pid ?? 0,
    async stop() {
      hasEnded();
      child.kill(stop);
      await closed;
    },
  };
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built script of this folder's parent, such as `run-stages` or `lab/sink`. */
export const toScriptPath = (script: string): string =>
  fileURLToPath(new URL(`../${script}.js`, import.meta.url));

export interface Service {
  readonly process: ChildProcessWithoutNullStreams;
  /** The first line that it printed. */
  readonly line: string;
  stop(): Promise<void>;
}

/** Starts a program that prints a line when it is ready and ends when its standard input closes. */
export async function startService(command: readonly string[], env = process.env): Promise<Service> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stderr.pipe(process.stderr);
  const closed = once(child, 'close');
  child.stdout.setEncoding('utf8');
  let text = '';
  while (!text.includes('\n')) {
    const chunk: unknown = await Promise.race([
      once(child.stdout, 'data').then(([data]: unknown[]) => data),
      closed.then(() => undefined),
    ]);
    if (chunk === undefined) throw new Error(`${command.join(' ')} ended before it was ready`);
    text += String(chunk);
  }
  child.stdout.resume();
  return {
    process: child,
    line: text.slice(0, text.indexOf('\n')),
    async stop() {
      child.stdin.end();
      await closed;
    },
  };
}

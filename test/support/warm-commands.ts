import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { toBuilt } from './build.ts';

/**
 * Processes that run one command after another with the compiled command line: its arguments, variables, exit
 * code, stdout and stderr are those of a process of its own, without the start of Node.js and the loading of
 * the modules, which cost more than most commands.
 */
export interface WarmEnded {
  /** Null when the process ended with it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Host {
  readonly child: ChildProcess;
  run(args: readonly string[], env: NodeJS.ProcessEnv): Promise<WarmEnded>;
}

const idle: Host[] = [];
const hosts = new Set<ChildProcess>();

/** `entry`: the program that messages name. */
export async function runWarm(
  entry: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<WarmEnded> {
  const host = idle.pop() ?? startHost(entry);
  const ended = await host.run(args, env);
  if (hosts.has(host.child)) idle.push(host);
  return ended;
}

/** Ends the processes that a command has not returned from. */
export async function killWarmCommands(): Promise<void> {
  const busy = [...hosts].filter((child) => !idle.some((host) => host.child === child));
  await Promise.all(
    busy.map((child) => {
      const closed = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGKILL');
      return closed;
    }),
  );
}

function startHost(entry: string): Host {
  const mark = `end of ${randomUUID()}`;
  const program = `
    const { main } = await import(${JSON.stringify(toBuilt('src/cli/main.js'))});
    process.on('message', async ({ args, env }) => {
      for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
      Object.assign(process.env, env);
      process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';
      process.argv = [process.execPath, ${JSON.stringify(entry)}, ...args];
      const code = await main(process.argv);
      process.stdout.write(${JSON.stringify(mark)});
      process.stderr.write('\\0' + code + ${JSON.stringify(mark)});
    });
    process.on('disconnect', () => process.exit());
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // Neither the host nor its pipes keep the tests' process alive.
  child.unref();
  hosts.add(child);
  let said = { stdout: '', stderr: '' };
  let settle: ((ended: WarmEnded) => void) | undefined;
  const look = () => {
    const { stdout, stderr } = said;
    if (!stdout.endsWith(mark) || !stderr.endsWith(mark)) return;
    const [, own = '', code] = /^(.*)\0(\d+)$/s.exec(stderr.slice(0, -mark.length)) ?? [];
    settle?.({ code: Number(code), signal: null, stdout: stdout.slice(0, -mark.length), stderr: own });
  };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
      look();
    });
  }
  child.once('close', (code, signal) => {
    hosts.delete(child);
    settle?.({ code, signal, ...said });
  });
  return {
    child,
    run: (args, env) =>
      new Promise((resolve) => {
        said = { stdout: '', stderr: '' };
        settle = resolve;
        child.send({ args, env });
      }),
  };
}

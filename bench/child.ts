import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts a script of this folder as a child process, by the name of its file without extension. */
export function startScript(script: string, args: readonly string[], nodeFlags: readonly string[] = []) {
  const path = fileURLToPath(new URL(`./${script}.js`, import.meta.url));
  const child = spawn(process.execPath, [...nodeFlags, path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8');
  return child;
}

/** Runs a script to its end and parses the JSON document that it prints. */
export async function runForJson(
  script: string,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<unknown> {
  const child = startScript(script, args, nodeFlags);
  child.stdin.end();
  let text = '';
  child.stdout.on('data', (chunk: string) => {
    text += chunk;
  });
  const [code, signal]: unknown[] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(
      `bench/${script} ${args[0] ?? ''} ended with ${String(signal ?? code)}; its output is above`,
    );
  }
  return JSON.parse(text);
}

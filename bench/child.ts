import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A script of this folder in a process of its own, by the name of its file without extension. */
export function start(script: string, args: readonly string[], nodeFlags: readonly string[] = []) {
  const path = fileURLToPath(new URL(`./${script}.js`, import.meta.url));
  const child = spawn(process.execPath, [...nodeFlags, path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8');
  return child;
}

/** Runs a script to its end; what it prints is one JSON document. */
export async function runForJson(
  script: string,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<unknown> {
  const child = start(script, args, nodeFlags);
  child.stdin.end();
  let text = '';
  child.stdout.on('data', (chunk: string) => {
    text += chunk;
  });
  const [code, signal]: unknown[] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(
      `bench/${script} ${args[0] ?? ''} ended with ${String(signal ?? code)}; its own words stand above`,
    );
  }
  return JSON.parse(text);
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Set-up is plain JavaScript without types: each test declares the ones it expects. */
export async function load<T>(name: string): Promise<T> {
  return import(new URL(`../../src/setup/${name}`, import.meta.url).href);
}

export function createFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'backhaul-setup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) putFile(join(folder, path), text);
  return folder;
}

export function putFile(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateAmplitudeExport } from '../../src/demo/generate-amplitude-export.ts';
import { readyDataDir } from './ready-data-dir.ts';

/** A folder of a test's own with exports, manifests and data folders in it. */
export interface Workplace {
  readonly folder: string;
  /** Writes a manifest, JSON, next to the exports. Returns its path. */
  manifest(content: { readonly name: string } & Record<string, unknown>): string;
  /** Path of a data folder; not created. */
  dataDir(name: string): string;
  /** A data folder whose embedded database is set up already (ready-data-dir.ts). */
  readyDataDir(name: string): Promise<string>;
  remove(): Promise<void>;
}

export function createWorkplace(): Workplace {
  const folder = mkdtempSync(join(tmpdir(), 'backhaul-test-'));
  const dataDir = (name: string) => join(folder, `data-${name}`);
  return {
    folder,
    manifest(content) {
      const path = join(folder, `${content.name}.json`);
      writeFileSync(path, JSON.stringify(content, null, 2));
      return path;
    },
    dataDir,
    readyDataDir: (name) => readyDataDir(dataDir(name)),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Several generated exports in `<folder>/exports`, each with its own records: as many parts at least. */
export async function writeExports(
  { folder }: Workplace,
  { files, records }: { readonly files: number; readonly records: number },
): Promise<void> {
  mkdirSync(join(folder, 'exports'), { recursive: true });
  for (let seed = 1; seed <= files; seed += 1) {
    await generateAmplitudeExport(join(folder, 'exports', `${seed}.zip`), {
      seed,
      events: records,
      persons: 40,
    });
  }
}

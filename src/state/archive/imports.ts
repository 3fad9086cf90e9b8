import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { loadControl } from '../control.ts';
import { encodeDocument, loadDocument } from '../document.ts';
import { parseNumberedKey } from '../keys/migration.ts';
import { IMPORTS, toImportKey } from '../keys/shared.ts';
import { loadMigration } from '../migrations.ts';
import { findNewestNumber } from '../numbered.ts';

/*
 * The imports into a staging, as one row of documents: the newest says who imports, and which migrations have not been
 * imported to their end. The next one is created when somebody begins, every few seconds while that goes on, and when
 * it ends. Staging alone is asked, as a place that migrations are moved to may have no Redis yet.
 */

const holder = z.strictObject({
  host: z.string(),
  /** Tells machines and containers apart that have the same host name. */
  pids: z.string().exactOptional(),
  pid: z.number().int().positive(),
  token: z.string(),
  /** What it does, for people to read. */
  doing: z.string(),
});
export type ImportHolder = z.infer<typeof holder>;

const importing = z.strictObject({
  /** Absent when it has ended. */
  holder: holder.exactOptional(),
  /** Names of migrations whose import has begun. */
  begun: z.array(z.string()),
});
export type Imports = z.infer<typeof importing> & {
  /** 0 before the first. */
  readonly number: number;
};

export async function loadImports(staging: Staging): Promise<Imports> {
  for (;;) {
    const number = await findNewestNumber(staging, IMPORTS);
    if (number === 0) return { number, begun: [] };
    const found = await loadDocument(importing, toImportKey(number), staging);
    if (found) return { ...found, number }; // else a newer one is there, and this one was removed
  }
}

/** False where there is one of that number. Older ones are removed. */
export async function addImports(staging: Staging, { number, ...value }: Imports): Promise<boolean> {
  if (!(await staging.create(toImportKey(number), encodeDocument(value)))) return false;
  for await (const { key } of staging.list(IMPORTS))
    if ((parseNumberedKey(key) ?? number) < number) await staging.remove(key);
  return true;
}

/** A migration whose import ended before its record was written, so that no list of migrations has it. */
export interface HalfImported {
  readonly name: string;
  /** From which file. */
  readonly reason: string;
  readonly at: string;
}

export async function findHalfImported(staging: Staging, name: string): Promise<HalfImported | undefined> {
  const control = await loadControl(staging, name);
  if (control?.state !== 'importing' || (await loadMigration(staging, name))) return undefined;
  return { name, reason: control.reason, at: control.at };
}

export async function listHalfImported(staging: Staging): Promise<HalfImported[]> {
  const { begun } = await loadImports(staging);
  const found = await Promise.all(begun.map((name) => findHalfImported(staging, name)));
  return found.filter((one) => one !== undefined);
}

import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadIfWhole } from '../../state/document.ts';
import { layout, parseNumberedKey } from '../../state/keys/migration.ts';
import { findNewestNumber } from '../../state/numbered.ts';
import type { Cause } from './comparison.ts';
import type { Verification } from './verify.ts';
import { CAUSES, pickRows } from './words.ts';

/* The last verification of a migration, for its page: verdict, sums and the first rows that differ. */

/** Of each table. */
const ROWS_KEPT = 20;

const row = z.strictObject({
  key: z.string(),
  old: z.number(),
  now: z.number(),
  causes: z.array(
    z.strictObject({
      cause: z.enum(Object.keys(CAUSES) as [Cause, ...Cause[]]),
      count: z.number(),
      name: z.string().exactOptional(),
    }),
  ),
  unexplained: z.number(),
});

const keptVerification = z.strictObject({
  at: z.string(),
  /** Rows that nothing explains. */
  unexplained: z.number().int().nonnegative(),
  comparisons: z.array(
    z.strictObject({
      old: z.enum(['report', 'vendor']),
      now: z.enum(['destination', 'report']),
      total: row,
      /** Rows that differ; equal ones are left out. */
      tables: z.array(
        z.strictObject({
          by: z.enum(['day', 'event', 'users', 'users_by_event', 'people']),
          rows: z.array(row),
          more: z.number().int().nonnegative(),
        }),
      ),
    }),
  ),
});
export type KeptVerification = z.infer<typeof keptVerification>;

/** Takes the place of the one before. */
export async function keepVerification(
  { staging, now }: { readonly staging: Staging; readonly now: () => Date },
  { migration, comparisons, unexplained }: Verification,
): Promise<void> {
  const kept: KeptVerification = {
    at: now().toISOString(),
    unexplained,
    comparisons: comparisons.map(({ tables, ...compared }) => ({
      ...compared,
      total: toPlainRow(compared.total),
      tables: tables.map(({ by, rows }) => {
        const { shown, more } = pickRows(rows, ROWS_KEPT);
        return { by, rows: shown.map(toPlainRow), more };
      }),
    })),
  };
  const { verifications, verification } = layout(migration);
  let number = (await findNewestNumber(staging, verifications)) + 1;
  while (!(await staging.create(verification(number), encodeDocument(kept)))) number += 1;
  for await (const { key } of staging.list(verifications))
    if ((parseNumberedKey(key) ?? number) < number) await staging.remove(key);
}

const toPlainRow = ({ causes, ...counts }: Verification['comparisons'][number]['total']) => ({
  ...counts,
  causes: [...causes],
});

/** Undefined where there is none, or it is damaged: it can be made again. */
export async function loadLastVerification(
  staging: Staging,
  name: string,
): Promise<KeptVerification | undefined> {
  const { verifications, verification } = layout(name);
  const number = await findNewestNumber(staging, verifications);
  return number === 0 ? undefined : loadIfWhole(keptVerification, verification(number), staging);
}

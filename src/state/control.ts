import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout } from './keys/migration.ts';
import { identify, type Named } from './migrations.ts';
import { findNewestNumber } from './numbered.ts';

/*
 * The state of a migration (src/migrations/lifecycle.ts). Staging cannot compare as it writes, so a state is never
 * replaced: the next one is created under the next number. Of two that decided by the same state one creates it;
 * the other, however long it slept, decides again by what is there now (I5). Redis only mirrors the newest.
 *
 * A name may be given to another migration while a process sleeps, so each state says of which it is, and another one's
 * counts for nothing; it only takes a number.
 */

export const controlState = z.enum([
  'running',
  'stopped',
  'paused',
  'cancelled',
  'finished',
  'removed',
  /** Exported to another place. */
  'moved',
  /** Its import has not ended. */
  'importing',
]);

export const control = z.strictObject({
  state: controlState,
  /** For people to read: who did it, why, and what to do next. */
  reason: z.string(),
  at: z.string(),
  /** Of the producer or worker that wrote it; absent where an operator did. */
  epoch: z.number().int().positive().exactOptional(),
  /** Of one that was removed: whether its rejects stay. Absent in what earlier versions wrote. */
  keepsRejects: z.boolean().exactOptional(),
});
export type Control = z.infer<typeof control>;

/** `of`: id of the migration, absent in what earlier versions wrote. */
const storedControl = control.extend({ of: z.string().exactOptional() });

export interface NumberedControl {
  /** The highest that was given; 0 before the first, and for what version 0.1.0 wrote. */
  readonly number: number;
  /** The newest of the migration. */
  readonly control: Control | undefined;
}

export async function loadNewestControl(staging: Staging, of: Named): Promise<NumberedControl> {
  const name = getName(of);
  const keys = layout(name);
  const number = await findNewestNumber(staging, keys.controls);
  if (number === 0) return { number, control: await loadDocument(control, keys.oldControl, staging) };
  for (let each = number; each > 0; each -= 1) {
    const found = await loadControlAt(staging, of, each);
    if (found !== 'of_another') return { number, control: found };
  }
  return { number, control: undefined };
}

export const loadControl = async (staging: Staging, of: Named): Promise<Control | undefined> =>
  (await loadNewestControl(staging, of)).control;

/** Undefined where there is none of this number. */
export async function loadControlAt(
  staging: Staging,
  of: Named,
  number: number,
  load: typeof loadDocument = loadDocument,
): Promise<Control | 'of_another' | undefined> {
  const found = await load(storedControl, layout(getName(of)).control(number), staging);
  if (found?.of === undefined) return found;
  const { of: owner, ...value } = found;
  const { id = owner } = await identify(staging, of);
  return owner === id ? value : 'of_another';
}

/** False where there is a state of that number, which may be this very one when a response was lost. */
export async function addControl(
  staging: Staging,
  of: Named,
  { number, control: value }: { readonly number: number; readonly control: Control },
): Promise<boolean> {
  const { name, id } = await identify(staging, of);
  const stored: z.infer<typeof storedControl> = { ...value, ...(id === undefined ? {} : { of: id }) };
  return staging.create(layout(name).control(number), encodeDocument(stored));
}

const getName = (of: Named): string => (typeof of === 'string' ? of : of.name);

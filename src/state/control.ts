import { z } from 'zod';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout } from './keys.ts';
import { findNewestNumber } from './numbered.ts';

/*
 * The state of a migration (src/migrations/lifecycle.ts). Staging cannot compare as it writes, so a state is never
 * replaced: the next one is created under the next number. Of two that decided by the same state one creates it;
 * the other, however long it slept, decides again by what is there now (I5). Redis only mirrors the newest.
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
});
export type Control = z.infer<typeof control>;

export interface NumberedControl {
  /** 0 before the first, and for what version 0.1.0 wrote. */
  readonly number: number;
  readonly control: Control | undefined;
}

export async function loadNewestControl(staging: Staging, name: string): Promise<NumberedControl> {
  const keys = layout(name);
  const number = await findNewestNumber(staging, keys.controls);
  const key = number === 0 ? keys.oldControl : keys.control(number);
  return { number, control: await loadDocument(control, key, staging) };
}

export const loadControl = async (staging: Staging, name: string): Promise<Control | undefined> =>
  (await loadNewestControl(staging, name)).control;

/** False where there is a state of that number, which may be this very one when a response was lost. */
export const addControl = (
  staging: Staging,
  name: string,
  { number, control: value }: { readonly number: number; readonly control: Control },
): Promise<boolean> => staging.create(layout(name).control(number), encodeDocument(value));

import type { Staging } from '../../src/contract/staging.ts';
import { addControl, type Control, loadNewestControl } from '../../src/state/control.ts';

/** Writes a state of a migration as if nobody else did. */
export async function saveControl(staging: Staging, name: string, control: Control): Promise<void> {
  const { number } = await loadNewestControl(staging, name);
  if (!(await addControl(staging, name, { number: number + 1, control })))
    throw new Error(`${name} has a newer state already`);
}

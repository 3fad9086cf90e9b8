import type { Staging } from '../../contract/staging.ts';
import { addControl, type Control, control, loadControlAt, loadNewestControl } from '../../state/control.ts';
import { loadDocument } from '../../state/document.ts';
import { layout } from '../../state/keys/migration.ts';
import { takeLedgerBack } from '../../state/ledger/moved.ts';

type Before = Pick<Control, 'state' | 'reason'>;

const isAway = (state: Control['state'] | undefined) => state === 'moved' || state === 'importing';

/** The state that a migration had before it was moved, from what led there. One that ran was interrupted. */
export async function loadStateBefore(staging: Staging, name: string): Promise<Before> {
  const keys = layout(name);
  const newest = await loadNewestControl(staging, name);
  let found: Control | undefined;
  for (let number = newest.number; number > 0; number -= 1) {
    const one = await loadControlAt(staging, name, number);
    if (one === 'of_another' || isAway(one?.state)) continue;
    found = one;
    break;
  }
  found ??= await loadDocument(control, keys.oldControl, staging);
  return toRestored(found);
}

export function toRestored(found: Before | undefined): Before {
  if (found === undefined) return { state: 'stopped', reason: 'it had not begun' };
  if (found.state === 'running')
    return { state: 'stopped', reason: 'it was interrupted before it was moved' };
  return { state: found.state, reason: found.reason };
}

/** Ends that some migrations are away: with the states that they had, or that are given. May be called again. */
export async function restoreStates(
  staging: Staging,
  names: readonly string[],
  ledgers: readonly string[],
  now: Date,
  given: ReadonlyMap<string, Before> = new Map(),
): Promise<void> {
  for (const id of ledgers) await takeLedgerBack(staging, id);
  for (const name of names) {
    const before = given.get(name) ?? (await loadStateBefore(staging, name));
    for (;;) {
      const newest = await loadNewestControl(staging, name);
      if (!isAway(newest.control?.state)) break;
      const restored: Control = { ...before, at: now.toISOString() };
      if (await addControl(staging, name, { number: newest.number + 1, control: restored })) break;
    }
  }
}

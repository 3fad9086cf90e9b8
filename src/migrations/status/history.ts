import type { Staging } from '../../contract/staging.ts';
import { type Control, control, loadNewestControl } from '../../state/control.ts';
import { loadIfWhole } from '../../state/document.ts';
import { layout } from '../../state/keys.ts';

const MAX_STATES = 10;

/** The last states of a migration, newest first. */
export async function loadHistory(staging: Staging, name: string): Promise<readonly Control[]> {
  const newest = await loadNewestControl(staging, name);
  const earlier = Array.from({ length: MAX_STATES - 1 }, (_, back) => newest.number - 1 - back)
    .filter((number) => number > 0)
    .map((number) => loadIfWhole(control, layout(name).control(number), staging));
  return [newest.control, ...(await Promise.all(earlier))].filter((one) => one !== undefined);
}

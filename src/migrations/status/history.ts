import type { Staging } from '../../contract/staging.ts';
import { type Control, loadControlAt, loadNewestControl } from '../../state/control.ts';
import { loadIfWhole } from '../../state/document.ts';
import type { MigrationRecord } from '../../state/migrations.ts';

const MAX_STATES = 10;

/** The last states of a migration, newest first. */
export async function loadHistory(
  staging: Staging,
  record: Pick<MigrationRecord, 'name' | 'id'>,
): Promise<readonly Control[]> {
  const newest = await loadNewestControl(staging, record);
  const earlier = Array.from({ length: MAX_STATES - 1 }, (_, back) => newest.number - 1 - back)
    .filter((number) => number > 0)
    .map((number) => loadControlAt(staging, record, number, loadIfWhole));
  return [newest.control, ...(await Promise.all(earlier))].filter(
    (one) => one !== undefined && one !== 'of_another',
  );
}

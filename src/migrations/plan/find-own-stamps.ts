import type { TargetEvent } from '../../contract/event.ts';
import { toOwnName } from '../../deliver/stamp.ts';
import { counted, printable } from './format-text.ts';

/** What every event is stamped with unless a manifest says otherwise. */
const DEFAULT_STAMP = '$import_job_id';
const NAMES_SHOWN = 3;

/**
 * Events of a sample that an import has stamped before, as a sentence; undefined when there are none. `importId`: the
 * stamp of this manifest, for which a property of that name has made room.
 */
export function findOwnStamps(
  events: readonly TargetEvent[],
  importId: string | false = DEFAULT_STAMP,
): string | undefined {
  const names = new Set([importId === false ? DEFAULT_STAMP : toOwnName(importId)]);
  if (importId !== DEFAULT_STAMP) names.add(DEFAULT_STAMP);
  const values = new Set<string>();
  let stamped = 0;
  for (const { properties } of events) {
    const own = [...names].map((name) => properties[name]).find((value) => typeof value === 'string');
    if (typeof own !== 'string') continue;
    stamped += 1;
    values.add(own);
  }
  if (stamped === 0) return undefined;
  const of = [...values].slice(0, NAMES_SHOWN).map(printable).join(', ');
  return (
    `${counted(stamped, 'event')} of the sample carry the stamp of an import: migrations such as ${of} have sent them before. ` +
    'Imported into the place that they come from, each is stored a second time, unless it keeps its uuid (mapping.uuid), name, distinct_id and day; then it stays under its first stamp, and `verify` finds it missing here. Take them out of the export, or import into another project.'
  );
}

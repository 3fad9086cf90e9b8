import type { FieldFate, ListFieldFates } from '../../sources/source.ts';
import type { Plan, SampledRecord } from './plan.ts';

const BEST_FIRST: readonly FieldFate[] = ['mapped', 'kept', 'dropped'];

/** What becomes of the fields of a sample. One that some records lose is counted by the best that it meets. */
export function compareFields(
  sampled: readonly Pick<SampledRecord, 'fields'>[],
  listFates: ListFieldFates,
): Plan['fields'] {
  const seen = new Map<string, { fate: FieldFate; inSample: number }>();
  for (const { fields } of sampled) {
    for (const [path, fate] of listFates(fields ?? {})) {
      const known = seen.get(path);
      if (!known) seen.set(path, { fate, inSample: 1 });
      else {
        known.inSample += 1;
        if (BEST_FIRST.indexOf(fate) < BEST_FIRST.indexOf(known.fate)) known.fate = fate;
      }
    }
  }
  const list = (wanted: FieldFate) =>
    [...seen]
      .filter(([, { fate }]) => fate === wanted)
      .map(([field, { inSample }]) => ({ field, inSample }))
      .toSorted((a, b) => b.inSample - a.inSample || (a.field < b.field ? -1 : 1));
  const kept = list('kept');
  return {
    mapped: list('mapped').map(({ field }) => field),
    ...(kept.length === 0 ? {} : { kept }),
    unmapped: list('dropped'),
  };
}

/** Where a source says no more of its fields than which ones its map reads. */
export const listTopLevelFates =
  (known: ReadonlySet<string> | 'all'): ListFieldFates =>
  (record) =>
    Object.keys(record).map((name) => [name, known === 'all' || known.has(name) ? 'mapped' : 'dropped']);

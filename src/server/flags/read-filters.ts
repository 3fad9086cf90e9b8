import { type FlagFilters, flagFiltersSchema } from '../../../config/flags.ts';
import { isJsonObject } from '../http/json.ts';
import { valueAt } from '../http/validation-error.ts';

/** A field that no definition has. */
export interface StrayField {
  /** Such as `groups.0.propertys`. */
  readonly path: string;
  readonly value: unknown;
}

export type ReadFilters =
  | { readonly filters: FlagFilters; readonly stray: readonly StrayField[] }
  | { readonly filters: undefined; readonly fault: string };

/**
 * Reads a definition that was stored, or comes from elsewhere: without the unknown fields for which `mayDrop` is
 * true. A new one is read by flagFiltersSchema alone, which refuses them.
 */
export function readFilters(given: unknown, mayDrop: (field: StrayField) => boolean): ReadFilters {
  const parsed = flagFiltersSchema.safeParse(given);
  if (parsed.success) return { filters: parsed.data, stray: [] };
  const stray = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => {
          const path = [...issue.path, key];
          return { path: path.map(String).join('.'), steps: path, value: valueAt(given, path) };
        })
      : [],
  );
  const dropped = stray.filter(mayDrop);
  const again =
    dropped.length === 0
      ? parsed
      : flagFiltersSchema.safeParse(dropped.reduce((rest, { steps }) => without(rest, steps), given));
  if (again.success) return { filters: again.data, stray: dropped };
  const [issue] = again.error.issues;
  const at = issue?.path.map(String).join('.');
  return { filters: undefined, fault: `${at || 'filters'}: ${issue?.message ?? 'cannot be read'}` };
}

/** A copy without the member at the end of a path. */
function without(value: unknown, [step, ...rest]: readonly PropertyKey[]): unknown {
  if (Array.isArray(value)) return value.map((item, at) => (at === step ? without(item, rest) : item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) =>
      key !== step ? [[key, member]] : rest.length === 0 ? [] : [[key, without(member, rest)]],
    ),
  );
}

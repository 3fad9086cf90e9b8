import { canonicalJson } from '../../lib/json/canonical-json.ts';
import type { PropertyList } from '../../lib/json/property-list.ts';
import type { DeclaredMapping } from './options.ts';

/** Where properties are put: those of an event, a person or a group. */
export type Target = PropertyList | Record<string, unknown>;

/** Where a value comes from; of spread columns, the first and those after it. */
export const FROM_COLUMN = 0;
export const FROM_PATH = 1;
export const FROM_SPREAD = 2;

/** A value that is to be a property of that name. */
export interface Claim {
  readonly target: Target;
  readonly name: string;
  readonly value: unknown;
  /** Its column or field. */
  readonly column: string;
  readonly from: number;
}

/**
 * Puts every value of a record in which several claim one name, none of which is lost. The name goes to what is
 * renamed to it, in the order of the manifest, then to the column of that name, to columns that get it by a prefix
 * or because their own is reserved, to nested fields that are renamed, and to spread fields. The others are put as
 * `source_<name>`, but for those that say the same. The order of fields in the record decides nothing.
 */
export function createSettle(
  { rename }: DeclaredMapping,
  put: (target: Target, name: string, value: unknown) => void,
): (claims: readonly Claim[]) => void {
  const renames = Object.keys(rename);
  const rank = ({ column, name, from }: Claim): number => {
    if (from !== FROM_COLUMN) return renames.length + 1 + from;
    const renamed = renames.indexOf(column);
    if (renamed !== -1) return renamed;
    return renames.length + (column === name ? 0 : 1);
  };
  const compare = (a: Claim, b: Claim) =>
    rank(a) - rank(b) ||
    compareTexts(a.column, b.column) ||
    compareTexts(canonicalJson(a.value), canonicalJson(b.value));

  return (claims) => {
    const byTarget = new Map<Target, Map<string, Claim[]>>();
    for (const claim of claims) {
      const byName = byTarget.get(claim.target) ?? new Map<string, Claim[]>();
      byTarget.set(claim.target, byName);
      const same = byName.get(claim.name) ?? [];
      byName.set(claim.name, same);
      same.push(claim);
    }
    for (const [target, byName] of byTarget) {
      const taken = new Set(byName.keys());
      for (const name of [...byName.keys()].toSorted()) {
        const [first, ...others] = (byName.get(name) ?? []).toSorted(compare);
        put(target, name, first?.value);
        for (const { value } of others) {
          if (value === null || Object.is(value, first?.value)) continue;
          let free = name;
          while (taken.has(free)) free = `source_${free}`;
          taken.add(free);
          put(target, free, value);
        }
      }
    }
  };
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

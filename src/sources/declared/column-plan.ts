import { createRenames, toOwnName } from '../mapping/properties.ts';
import { createNameProperty, type NameProperty } from './declared-columns.ts';
import type { DeclaredMapping } from './options.ts';

/** Where a column's value goes. */
export type Place =
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'event' | 'set' | 'setOnce'; readonly name: string }
  | { readonly kind: 'group'; readonly group: number; readonly name: string };

/**
 * Decides once a column where its values go. A column that alone feeds event, id, time or group is not
 * repeated as a property. Of a list of columns, any may be the one that was used, so all of them are.
 * `renames`: whether columns of persons and groups are renamed too.
 */
export function createPlaceColumn(
  mapping: DeclaredMapping,
  { renames: isRenaming }: { readonly renames: 'all' | 'event' },
): (column: string) => Place {
  const { event, distinctId, timestamp, groups, person } = mapping;
  const feeding = [...('column' in event ? [event] : []), distinctId, timestamp, ...groups].flatMap(
    ({ column }) => (typeof column === 'string' ? column : column.length === 1 ? column : []),
  );
  const used = new Set([...feeding, ...mapping.exclude, ...mapping.spreadColumns]);

  const nameSet = createNameProperty(person.set, used);
  const nameSetOnce = createNameProperty(person.setOnce, used);
  const nameGroups: NameProperty[] = groups.map(({ set }) => createNameProperty(set, used));
  const renames = declaredRenames(mapping);

  const toOwnName = createRenameColumn(mapping);
  const rename = isRenaming === 'all' ? toOwnName : (_column: string, name: string) => name;

  const excluded = new Set(mapping.exclude);
  const decide = (column: string): Place => {
    if (excluded.has(column)) return NOWHERE;
    const set = nameSet(column);
    if (set !== undefined) return { kind: 'set', name: rename(column, set) };
    const setOnce = nameSetOnce(column);
    if (setOnce !== undefined) return { kind: 'setOnce', name: rename(column, setOnce) };
    for (const [group, nameGroup] of nameGroups.entries()) {
      const name = nameGroup(column);
      if (name !== undefined) return { kind: 'group', group, name: rename(column, name) };
    }
    return used.has(column) ? NOWHERE : { kind: 'event', name: renames.get(column) ?? column };
  };

  const places = new Map<string, Place>();
  return (column) => {
    let place = places.get(column);
    if (!place) {
      // JSON records may have any number of names, such as ids used as keys.
      if (places.size >= KNOWN_COLUMNS) places.clear();
      place = decide(column);
      places.set(column, place);
    }
    return place;
  };
}

/** The manifest's names, but none of those the destination gives a meaning of its own. */
export function declaredRenames(mapping: DeclaredMapping) {
  const reserved = createRenames();
  return createRenames(
    Object.entries(mapping.rename).map(([column, name]) => [column, reserved.get(name) ?? name] as const),
  );
}

/** Names of persons and groups have hardly any meaning of their own at the destination: see `toOwnName`. */
function createRenameColumn({ rename }: DeclaredMapping): (column: string, name: string) => string {
  const names = new Map(Object.entries(rename).map(([column, name]) => [column, toOwnName(name)]));
  return (column, name) => names.get(column) ?? name;
}

const NOWHERE: Place = { kind: 'nowhere' };
const KNOWN_COLUMNS = 5_000;

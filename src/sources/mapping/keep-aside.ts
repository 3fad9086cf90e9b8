import type { PropertyList } from '../../lib/json/property-list.ts';

/** Sets a value whose name another one has as `source_<name>`, or with more of that in front where it is taken. */
export function keepAside(properties: PropertyList, name: string, value: unknown): void {
  let free = `source_${name}`;
  while (properties.has(free)) free = `source_${free}`;
  properties.set(free, value);
}

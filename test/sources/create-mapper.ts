import { bindSource, getSourceType } from '../../src/sources/registry.ts';
import type { MapRecord, MapSettings } from '../../src/sources/source.ts';

/** A map with the options of a manifest's `source` block, defaults filled in as the manifest does. */
export function createMapper(
  type: string,
  options: Readonly<Record<string, unknown>> = {},
  settings: MapSettings = {},
): MapRecord {
  return bindSource(getSourceType(type).block.parse({ type, from: 'x', ...options })).createMap(settings);
}

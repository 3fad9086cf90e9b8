import { bindSource, getSourceType } from '../src/sources/registry.ts';
import type { MapRecord } from '../src/sources/source.ts';

/** A map with the settings that a manifest has by default. */
export function createBenchMap(type: string): MapRecord {
  const { block, sample } = getSourceType(type);
  return bindSource(block.parse({ type, from: 'bench', ...sample?.options })).createMap();
}

import { bindSource, getSourceType } from '../src/sources/registry.ts';
import { createImportMap, type ImportMap } from '../src/sources/source.ts';

/** A map as an import uses it, with the settings that a manifest has by default. */
export function createBenchMap(type: string): ImportMap {
  const { block, sample } = getSourceType(type);
  return createImportMap(bindSource(block.parse({ type, from: 'bench', ...sample?.options })));
}

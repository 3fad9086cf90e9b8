import { amplitude } from './amplitude/index.ts';
import { csv } from './csv/index.ts';
import { jsonl } from './jsonl/index.ts';
import { rudderstack } from './rudderstack/index.ts';
import { segment } from './segment/index.ts';
import type { Source, SourceBlock, SourceType } from './source.ts';

export type SourceTypes = readonly SourceType[];

/** Every source there is, in the order of the docs. A new vendor is its folder and its line here. */
export const SOURCE_TYPES: SourceTypes = [amplitude, segment, rudderstack, jsonl, csv];

/** Takes a type that the schema of manifests has let through. */
export function getSourceType(type: string, types: SourceTypes = SOURCE_TYPES): SourceType {
  const found = types.find((each) => each.type === type);
  if (!found) throw new Error(`no source of type ${type}`);
  return found;
}

export const bindSource = (block: SourceBlock, types?: SourceTypes): Source =>
  getSourceType(block.type, types).bind(block);

/** What a migration pins, such as `amplitude@1`: another version would map the same record otherwise. */
export const getMappingName = (type: string, types?: SourceTypes): string =>
  `${type}@${getSourceType(type, types).version}`;

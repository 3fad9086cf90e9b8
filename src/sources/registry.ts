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

/** What a new migration pins, such as `amplitude@2`: another version would map the same record otherwise. */
export const getMappingName = (type: string, types?: SourceTypes): string =>
  `${type}@${Math.max(...getSourceType(type, types).versions)}`;

/** The version that a migration is pinned to; undefined where this release does not map that type or version. */
export function readPinnedVersion(pinned: string, type: string, types?: SourceTypes): number | undefined {
  const [of, version] = pinned.split('@');
  const { versions } = getSourceType(type, types);
  return of === type ? versions.find((each) => String(each) === version) : undefined;
}

/** `amplitude@1 and amplitude@2`, for messages. */
export const listMappingNames = (type: string, types?: SourceTypes): string =>
  getSourceType(type, types)
    .versions.map((version) => `${type}@${version}`)
    .join(' and ');

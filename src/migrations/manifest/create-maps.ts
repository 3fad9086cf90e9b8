import type { Manifest } from '../../../config/manifest/manifest.ts';
import { toTimeWindow } from '../../../config/manifest/window.ts';
import { limitToWindow } from '../../pipeline/limit-to-window.ts';
import { bindSource, type SourceTypes } from '../../sources/registry.ts';
import { createImportMap, type ImportMap, type MapRecord, type MapSettings } from '../../sources/source.ts';
import { PLAN_HASH_KEY } from './hash-key.ts';
import { createManifestStamp, stampEvent } from './stamps.ts';

/** The map of a manifest: that of its source, within its window. */
export function createManifestMap(manifest: Manifest, settings?: MapSettings): ImportMap {
  const map = createImportMap(bindSource(manifest.source), settings);
  const window = toTimeWindow(manifest);
  return window ? Object.assign(limitToWindow(map, window), { viewFields: map.viewFields }) : map;
}

/** The same map for whoever looks at events, which are stamped as they would be sent. */
export function createSampleMap(manifest: Manifest, types?: SourceTypes, settings?: MapSettings): MapRecord {
  const map = bindSource(manifest.source, types).createMap({ hashKey: PLAN_HASH_KEY, ...settings });
  const window = toTimeWindow(manifest);
  const limited = window ? limitToWindow(map, window) : map;
  const stamp = createManifestStamp(manifest);
  return (record) => {
    const outcome = limited(record);
    if (outcome.kind !== 'mapped' || !stamp) return outcome;
    return { ...outcome, events: outcome.events.map((event) => stampEvent(event, stamp)) };
  };
}

import { createSourceMap, type SourceTypeName, sourceTypes } from '../src/sources/registry.ts';
import type { MapRecord } from '../src/sources/source.ts';

const zone = { timezone: 'UTC' };

/** How the sample's fields are declared where no vendor's format says it. */
const MAPPING = {
  event: { column: 'event_type' },
  distinctId: { column: ['user_id', 'device_id'] },
  anonymousId: { column: 'device_id' },
  timestamp: { column: 'event_time' },
  uuid: { column: 'uuid' },
  groups: [{ type: 'company', column: 'company' }],
};

/** A map with the settings that a manifest has by default. */
export function createBenchMap(type: SourceTypeName): MapRecord {
  const { amplitude, segment, rudderstack, jsonl, csv } = sourceTypes;
  switch (type) {
    case 'amplitude':
      return createSourceMap({ type, ...amplitude.options.parse({}), ...zone });
    case 'segment':
      return createSourceMap({ type, ...segment.options.parse({}), ...zone });
    case 'rudderstack':
      return createSourceMap({ type, ...rudderstack.options.parse({}), ...zone });
    case 'jsonl':
      return createSourceMap({ type, ...jsonl.options.parse({ mapping: MAPPING }), ...zone });
    case 'csv':
      return createSourceMap({ type, ...csv.options.parse({ mapping: MAPPING }), ...zone });
  }
}

import { sourceTypes } from '../../src/sources/registry.ts';
import type { MapRecord } from '../../src/sources/source.ts';

/** A map with the options of a manifest's `source` block, defaults filled in as the manifest does. */
export function createMapper(source: string, block: Readonly<Record<string, unknown>> = {}): MapRecord {
  const { timezone = 'UTC', ...options } = block;
  const zone = { timezone: String(timezone) };
  const { amplitude, segment, rudderstack, jsonl, csv } = sourceTypes;
  switch (source) {
    case 'amplitude':
      return amplitude.createMap({ ...amplitude.options.parse(options), ...zone });
    case 'segment':
      return segment.createMap({ ...segment.options.parse(options), ...zone });
    case 'rudderstack':
      return rudderstack.createMap({ ...rudderstack.options.parse(options), ...zone });
    case 'jsonl':
      return jsonl.createMap({ ...jsonl.options.parse(options), ...zone });
    case 'csv':
      return csv.createMap({ ...csv.options.parse(options), ...zone });
    default:
      throw new Error(`no source of type ${source}`);
  }
}

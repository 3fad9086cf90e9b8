import { amplitude } from './amplitude/events.ts';
import { csv, jsonl } from './declared/declared.ts';
import type {
  AmplitudeOptions,
  CsvOptions,
  JsonlOptions,
  RudderstackOptions,
  SegmentOptions,
} from './options.ts';
import { rudderstack } from './rudderstack/index.ts';
import { segment } from './segment/index.ts';
import type { MapRecord, WithTimezone } from './source.ts';

/** Every source there is. A new vendor is one more file, one line here and its golden files. */
export const sourceTypes = { amplitude, segment, rudderstack, jsonl, csv } as const;

export type SourceTypeName = keyof typeof sourceTypes;

/** A manifest's `source` block as far as a map needs it. */
export type SourceSettings = WithTimezone &
  (
    | ({ readonly type: 'amplitude' } & AmplitudeOptions)
    | ({ readonly type: 'segment' } & SegmentOptions)
    | ({ readonly type: 'rudderstack' } & RudderstackOptions)
    | ({ readonly type: 'jsonl' } & JsonlOptions)
    | ({ readonly type: 'csv' } & CsvOptions)
  );

export function createSourceMap(source: SourceSettings): MapRecord {
  switch (source.type) {
    case 'amplitude':
      return amplitude.createMap(source);
    case 'segment':
      return segment.createMap(source);
    case 'rudderstack':
      return rudderstack.createMap(source);
    case 'jsonl':
      return jsonl.createMap(source);
    case 'csv':
      return csv.createMap(source);
  }
}

/** Record fields that the source's map reads, for telling which ones an import leaves behind. */
export function knownFields(type: SourceTypeName): ReadonlySet<string> | 'all' {
  return sourceTypes[type].knownFields();
}

/**
 * Whether a source's events may hold exact numbers that its records did not: JSON in a column is text
 * to whoever parses the record, and only the map learns of the digits in it (I9).
 */
export function addsExactNumbers(source: SourceSettings): boolean {
  return (source.type === 'jsonl' || source.type === 'csv') && source.mapping.jsonColumns.length > 0;
}

/** What a migration pins, such as `amplitude@1`: another version would map the same record otherwise. */
export const mappingName = (type: SourceTypeName): string => `${type}@${sourceTypes[type].version}`;

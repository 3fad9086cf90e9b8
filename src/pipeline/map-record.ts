import type { MappedEvent } from '../contract/event.ts';
import type { MapOutcome } from '../contract/outcome.ts';
import { type ParseBytes, rejectOversize } from '../sources/formats/parse-record.ts';
import type { ImportMap } from '../sources/source.ts';
import type { PartRecords } from '../state/part-records.ts';

export function mapRecord(
  records: PartRecords,
  record: number,
  parse: ParseBytes,
  map: ImportMap,
): MapOutcome<MappedEvent> {
  const size = records.getOversize(record);
  if (size !== undefined) return rejectOversize(size);
  const parsed = parse(records.bytes, records.getStart(record), records.getEnd(record));
  return parsed.kind === 'rejected' ? parsed : map(parsed.value);
}

import type { MappedEvent } from '../../../src/contract/event.ts';
import type { MapOutcome } from '../../../src/contract/outcome.ts';
import { RecordScanner } from '../../../src/lib/json/record-scanner.ts';
import { bindSource, getSourceType } from '../../../src/sources/registry.ts';
import { createImportMap } from '../../../src/sources/source.ts';

/** Maps a record as the import reads it: still text. */
export function mapText(record: object, options: object = {}): MapOutcome<MappedEvent> {
  const block = { type: 'amplitude', from: 'x', ...options };
  const map = createImportMap(bindSource(getSourceType('amplitude').block.parse(block)));
  const bytes = Buffer.from(`${JSON.stringify(record)}\n`);
  const view = new RecordScanner(map.viewFields ?? new Set()).scan(bytes, 0, bytes.length - 1);
  if (view === undefined) throw new Error('no view of the record');
  return map(view as never) as MapOutcome<MappedEvent>;
}

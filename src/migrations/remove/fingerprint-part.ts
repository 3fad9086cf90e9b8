import type { PartMeta } from '../../contract/part.ts';
import { BatchBuilder } from '../../deliver/batch-builder.ts';
import { Fingerprints } from '../../pipeline/fingerprints.ts';
import { type MapDeps, mapToBatches } from '../../pipeline/map-to-batches.ts';
import { Outcomes } from '../../pipeline/outcomes.ts';
import { createBytesParser } from '../../sources/formats/parse-record.ts';
import type { EncodedFingerprints } from '../../state/fingerprints.ts';
import type { PartRecords } from '../../state/part-records.ts';

/** The fingerprints of all that the import of a part sends, without sending it. */
export async function fingerprintPart(
  records: PartRecords,
  { format, idFrom }: Pick<PartMeta, 'format' | 'idFrom'>,
  deps: Pick<MapDeps, 'map' | 'vendorMap' | 'sentBefore'>,
): Promise<EncodedFingerprints> {
  const batches = new BatchBuilder();
  const outcomes = new Outcomes(records.count);
  const fingerprints = new Fingerprints(records.count);
  const mapped = mapToBatches(records, 0, {
    ...deps,
    hasOwnIds: idFrom === 'record',
    parse: createBytesParser(format, records.header, deps.map.viewFields),
    ...{ batches, outcomes, fingerprints },
    facts: { add: () => {}, addUser: () => {}, addSeen: () => {} },
  });
  for await (const { batch } of mapped) if (batch) batches.release(batch);
  batches.close();
  return fingerprints.encode((record) => outcomes.getRejection(record) !== undefined, outcomes.labels, []);
}

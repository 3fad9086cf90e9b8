import { type Rejected, rejected } from '../contract/outcome.ts';
import { DEFAULT_BATCH_LIMITS, RECORD_BYTES, type TooLarge } from '../deliver/batch-builder.ts';

/** Names the limit, and what can be changed. `mostEventBytes`: of one event, as its batches allow. */
export function rejectTooLarge(what: TooLarge, mostEventBytes: number): Rejected {
  if (what === 'record_too_large') {
    return rejected(
      what,
      `the events of the record have more than ${RECORD_BYTES} bytes together, the most of one record; leave out the columns that are large and in each of them, or export the items in records of their own`,
    );
  }
  const isSetLower = mostEventBytes < DEFAULT_BATCH_LIMITS.eventBytes;
  return rejected(
    what,
    isSetLower
      ? `an event of the record has more than ${mostEventBytes} bytes, the most that limits.batch.bytes leaves for one event; raise that limit, shorten the properties or drop some in the mapping`
      : `an event of the record has more than ${mostEventBytes} bytes, the most of one event; shorten its properties or drop some in the mapping`,
  );
}

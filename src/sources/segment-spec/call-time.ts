import type { Rejected } from '../../contract/outcome.ts';
import { readRecordTime } from '../mapping/record-time.ts';
import { type Fields, hasValue } from '../mapping/table.ts';
import { createReadTime, type ReadTime } from '../mapping/timestamp.ts';
import type { OnNote } from '../source.ts';

// `timestamp` is corrected for the client's clock; the others are for records without one.
const TIME_FIELDS = ['timestamp', 'originalTimestamp', 'receivedAt'];

/** The time that a call gives for itself: the first of its times. */
export function readGivenTime(record: Fields, readTime: ReadTime): string | Rejected {
  const field = TIME_FIELDS.find((name) => hasValue(record[name])) ?? 'timestamp';
  return readRecordTime(record[field], field, readTime);
}

/** The time of an event, from the one that its call gives for itself. */
export type CorrectTime = (record: Fields, given: string) => string;

/** Versions 1 and 2. */
export const keepTime: CorrectTime = (_, given) => given;

const readMillis = createReadTime('epoch_ms', 'UTC');

/**
 * A call without `timestamp` was made as long before its arrival as it was made before it was sent, whatever the
 * clock of its client says: receivedAt - (sentAt - originalTimestamp). No call was made after its arrival: one that
 * says so is given that time, and the time of its arrival where even that is later.
 * https://segment.com/docs/connections/spec/common/#timestamps
 */
export function createCorrectTime(readTime: ReadTime, onNote: OnNote): CorrectTime {
  return (record, given) => {
    const receivedAt = readTime(record['receivedAt']);
    if (receivedAt === undefined) return given;
    if (given > receivedAt) {
      onNote('time_after_arrival');
      const computed = computeTime(record, receivedAt);
      return computed === undefined || computed > receivedAt ? receivedAt : computed;
    }
    if (hasValue(record['timestamp'])) return given;
    const computed = computeTime(record, receivedAt);
    if (computed === undefined || computed === given) return given;
    onNote('time_computed');
    return computed > receivedAt ? receivedAt : computed;
  };

  function computeTime(record: Fields, receivedAt: string): string | undefined {
    const made = readTime(record['originalTimestamp']);
    const sent = readTime(record['sentAt']) ?? readMillis(record['sentAt']);
    if (made === undefined || sent === undefined) return undefined;
    // Undefined where the clocks differ by more than there are years.
    return readMillis(Date.parse(receivedAt) - (Date.parse(sent) - Date.parse(made)));
  }
}

/** The moment of a call by the clock of its device, where the record says so. */
export const readDeviceTime = (record: Fields, readTime: ReadTime): string | undefined =>
  readTime(record['originalTimestamp']);

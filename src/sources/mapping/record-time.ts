import { type Rejected, rejected } from '../../contract/outcome.ts';
import { shown } from '../../lib/preview.ts';
import { explainInvalidTimestamp } from './explain-invalid-timestamp.ts';
import { hasValue } from './table.ts';
import type { ReadTime } from './timestamp.ts';

/** A rejected outcome where a value was expected: the value is always text. */
export const isRejected = (result: string | Rejected): result is Rejected => typeof result !== 'string';

/** The time of a record, or why it has none. `field` says where the value came from. */
export function readRecordTime(
  value: unknown,
  field: string,
  readTime: ReadTime,
  format = 'iso',
): string | Rejected {
  if (!hasValue(value)) return rejected('no_timestamp', `${field} is missing or empty`);
  const time = readTime(value);
  if (time !== undefined) return time;
  const why = explainInvalidTimestamp(value, format);
  return rejected(
    'bad_timestamp',
    `${field} is ${shown(value)}; read as ${format}, that is no time between 1970 and 2100${why === undefined ? '' : `: ${why}`}`,
  );
}

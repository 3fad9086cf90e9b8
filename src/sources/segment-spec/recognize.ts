import { asFields, type Fields } from '../mapping/table.ts';

const CALLS: ReadonlySet<unknown> = new Set(['track', 'page', 'screen', 'identify', 'group', 'alias']);

/** A call of the spec as archives hold it. */
export const isCall = (record: Fields): boolean =>
  CALLS.has(record['type']) &&
  ('messageId' in record || 'anonymousId' in record || 'userId' in record) &&
  ('originalTimestamp' in record || 'timestamp' in record || 'receivedAt' in record || 'sentAt' in record);

/** RudderStack's libraries name themselves, and its archives have fields of their own. */
export function isOfRudderstack(record: Fields): boolean {
  const context = asFields(record['context']);
  const library = String(asFields(context?.['library'])?.['name'] ?? '');
  return (
    /rudder/i.test(library) ||
    'rudderId' in record ||
    'request_ip' in record ||
    'sessionStart' in (context ?? {})
  );
}

import { hash } from 'node:crypto';
import { stringifyJson } from '../../../lib/json/stringify-json.ts';
import { parseTime, readOffset } from './event-time.ts';
import type { Item } from './item-reader.ts';

/**
 * Uuids for the events that came without. A client that got no answer sends the same request again, and
 * may not store its events twice: so the uuid follows from the project, from all that the request says,
 * and from the event's place among those without a uuid. Equal events of one request stay apart, and so
 * do those of two requests that differ in anything, or were sent at different times.
 *
 * An event that does not say when it happened means now. Sent again, it cannot be told from one that
 * happened again, and is stored again: clients that want better give a uuid or a timestamp.
 */
export function createEventNamer(
  listItems: () => readonly unknown[],
  {
    projectUuid,
    sentAtMs,
    createUuid,
  }: {
    readonly projectUuid: string;
    readonly sentAtMs: number | undefined;
    readonly createUuid: () => string;
  },
): (item: Item) => string {
  let request: string | undefined;
  let count = 0;
  return (item) => {
    if (!saysWhen(item)) return createUuid();
    request ??= computeDigest(`${projectUuid} ${sentAtMs ?? ''} ${stringifyJson(listItems())}`);
    count += 1;
    return `${request}${count.toString(16).padStart(8, '0')}`;
  };
}

/** All of a UUID v8 (RFC 9562, 5.8) but its last eight digits: one hash serves a whole request. */
function computeDigest(text: string): string {
  const hex = hash('sha256', text);
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 0x3);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 24)}`;
}

const saysWhen = (item: Item) =>
  parseTime(item['timestamp']) !== undefined && readOffset(item['offset']) === undefined;

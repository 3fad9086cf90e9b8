import { hash } from 'node:crypto';
import { eventId } from '../../map/event-id.ts';
import { type JsonObject, stringifyJson } from '../json.ts';
import { parseTime, readOffset } from './event-time.ts';

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
  items: readonly unknown[],
  {
    projectUuid,
    sentAtMs,
    lossless,
    createUuid,
  }: {
    readonly projectUuid: string;
    readonly sentAtMs: number | undefined;
    readonly lossless: boolean;
    readonly createUuid: () => string;
  },
): (item: JsonObject) => string {
  let request: string | undefined;
  let count = 0;
  return (item) => {
    if (!saysWhen(item)) return createUuid();
    request ??= hash('sha1', lossless ? stringifyJson(items) : JSON.stringify(items));
    count += 1;
    return eventId(['request', projectUuid, request, String(sentAtMs ?? ''), String(count)]);
  };
}

const saysWhen = (item: JsonObject) =>
  parseTime(item['timestamp']) !== undefined && readOffset(item['offset']) === undefined;

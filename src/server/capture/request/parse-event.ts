import { stringifyJson } from '../../../lib/json/stringify-json.ts';
import { addMembers, isJsonObject, isWrittenWithin, parseJsonObject, toText } from '../../http/json.ts';
import { isUuid } from '../../http/row-id.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import { MAX_EVENT_CHARACTERS } from '../limits.ts';
import type { ReadProperties } from '../read-properties.ts';
import { invalidPayload } from '../refusal.ts';
import { readEventTime, type TimeWarning } from './event-time.ts';
import type { Item } from './item-reader.ts';

const MAX_NAME_LENGTH = 200;
/** Forms that the service's own readers take as well: bare digits, in braces, as a URN. */
const OTHER_UUID =
  /^(?:urn:uuid:|\{)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})\}?$/i;

/** What the events of one request have in common. */
export interface RequestFacts {
  readonly nowMs: number;
  readonly sentAtMs: number | undefined;
  /** Name of events without one; undefined refuses them. */
  readonly defaultEvent: string | undefined;
  /** Address of the sender; undefined for imports, whose sender is not the visitor. */
  readonly ip: string | undefined;
  /** Names an event that came without a uuid. */
  readonly createUuid: (item: Item) => string;
}

export interface ParsedEvent {
  readonly event: IncomingEvent;
  readonly warning: TimeWarning | undefined;
}

/**
 * Reads one item of a request, or refuses the request with the reason. `sentText` is what was sent for its
 * properties, where that can be stored: then `item` may have only those that are read.
 */
export function parseEvent(value: unknown, facts: RequestFacts, sentText?: Uint8Array): ParsedEvent {
  if (!isJsonObject(value)) throw invalidPayload('Invalid payload: All events must be objects.');
  const item: Item = value;
  const sent = item.properties ?? {};
  if (!isJsonObject(sent))
    throw invalidPayload('Invalid payload: Event field "properties" must be an object!');
  const given: ReadProperties = sent;
  const event = parseName(item, facts);
  const distinctId = parseDistinctId(item, given);
  const added = gatherAdded(item, given, facts);
  const properties = addProperties(given, added);
  const propertiesText =
    sentText === undefined
      ? writeProperties(properties)
      : (extendSentText(given, added, sentText) ?? rewriteText(sentText, added));
  const { timeMs, warning } = readEventTime(
    {
      timestamp: item['timestamp'],
      offset: item['offset'],
      sentAtMs: given['$ignore_sent_at'] ? undefined : facts.sentAtMs,
    },
    facts.nowMs,
  );
  const timestamp = new Date(timeMs).toISOString();
  return {
    event: { uuid: parseUuid(item, facts), event, distinctId, timestamp, properties, propertiesText },
    warning,
  };
}

/** As sent, with what was added behind it. Undefined where something is replaced, or may be too large. */
function extendSentText(
  given: ReadProperties,
  added: AddedProperties,
  sentText: Uint8Array,
): Uint8Array | undefined {
  if (given['token'] !== undefined) return undefined;
  const keys = Object.keys(added);
  if (keys.some((key) => Object.hasOwn(given, key))) return undefined;
  const text = keys.length === 0 ? sentText : addMembers(sentText, stringifyJson(added).slice(1, -1));
  return text.length <= MAX_EVENT_CHARACTERS ? text : undefined;
}

/** With what was added, of properties that were only read in part. */
const rewriteText = (sentText: Uint8Array, added: AddedProperties): Uint8Array =>
  writeProperties(addProperties(parseJsonObject(Buffer.from(sentText).toString()), added));

function writeProperties(properties: ReadProperties): Uint8Array {
  const text = stringifyJson(properties);
  if (!isWrittenWithin(text, MAX_EVENT_CHARACTERS)) {
    throw invalidPayload(`Invalid payload: An event is larger than ${MAX_EVENT_CHARACTERS} characters!`);
  }
  return Buffer.from(text);
}

function parseName(item: Item, { defaultEvent }: RequestFacts): string {
  const value = item['event'] ?? defaultEvent;
  if (value === undefined || value === null) {
    throw invalidPayload('Invalid payload: All events must have the event name field "event"!');
  }
  const name = toText(value);
  // PostHog may drop such events behind a 200; a refusal lets the sender know.
  if (name === '') throw invalidPayload('Invalid payload: Event field "event" should not be blank!');
  return cutId(name);
}

/** Where several places name an id, PostHog's own order decides. */
function parseDistinctId(item: Item, properties: ReadProperties): string {
  const key = Object.hasOwn(item, '$distinct_id') ? '$distinct_id' : 'distinct_id';
  const holder: Item = key === 'distinct_id' && Object.hasOwn(properties, key) ? properties : item;
  if (!Object.hasOwn(holder, key)) {
    throw invalidPayload('Invalid payload: All events must have the event field "distinct_id"!');
  }
  const id = readId(holder[key]);
  if (id === undefined)
    throw invalidPayload('Invalid payload: Event field "distinct_id" should not be blank!');
  return id;
}

/** Text of an id, at most 200 characters; undefined for null, blank, 0 and false. */
export function readId(value: unknown): string | undefined {
  if (value === null || value === undefined || value === 0 || value === false) return undefined;
  const text = toText(value);
  return text.trim() === '' ? undefined : cutId(text);
}

/** A name or an id as it is stored. */
export function cutId(text: string): string {
  if (text.length <= MAX_NAME_LENGTH) return text;
  return text.slice(0, MAX_NAME_LENGTH).replace(/[\ud800-\udbff]$/, ''); // no half of a surrogate pair
}

function parseUuid(item: Item, { createUuid }: RequestFacts): string {
  const value = item['uuid'];
  if (value === undefined || value === null || value === '') return createUuid(item);
  if (typeof value === 'string') {
    if (isUuid(value)) return value.toLowerCase();
    const parts = OTHER_UUID.exec(value)?.slice(1);
    if (parts !== undefined) return parts.join('-').toLowerCase();
  }
  throw invalidPayload('Invalid payload: Event field "uuid" is not a valid UUID!');
}

type AddedProperties = Readonly<Partial<Record<'$set' | '$set_once' | '$ip' | '$sent_at', unknown>>>;

function gatherAdded(item: Item, given: ReadProperties, facts: RequestFacts): AddedProperties {
  const extra: { -readonly [K in keyof AddedProperties]: unknown } = {};
  for (const key of ['$set', '$set_once'] as const) {
    const top = item[key];
    const inner = given[key];
    if (isJsonObject(top)) extra[key] = isJsonObject(inner) ? { ...inner, ...top } : top;
  }
  if (facts.ip !== undefined && given['$ip'] === undefined) extra['$ip'] = facts.ip;
  if (facts.sentAtMs !== undefined) extra['$sent_at'] = new Date(facts.sentAtMs).toISOString();
  return extra;
}

/** A copy only where something changes: most events of an import pass as they are. */
function addProperties(given: ReadProperties, added: AddedProperties): ReadProperties {
  if (given['token'] === undefined) return Object.keys(added).length === 0 ? given : { ...given, ...added };
  const { token: _projectKey, ...rest } = given;
  return { ...rest, ...added };
}

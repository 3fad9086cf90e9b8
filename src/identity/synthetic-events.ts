import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { toHashable } from '../lib/hashable-text.ts';
import { quote } from '../lib/json/quote.ts';
import { TextBuffer } from '../lib/text-buffer.ts';
import { createEventId, createEventIdOfBytes } from '../sources/mapping/event-id.ts';
import type { FieldProperty } from './pack-properties.ts';

/**
 * An event that comes from no single record, as it is sent. Its uuid depends on its content and its subject, not
 * on how often or in which export it was seen: overlapping exports yield the same events instead of more. Of a
 * value that follows another one it depends on the source time, too.
 */
export class SyntheticEvent {
  readonly event: string;
  /**
   * JSON text of the whole event: values are canonical JSON already, and are not parsed to be written again. Many wait
   * to be sent, so it is bytes, which no collection of garbage copies.
   */
  readonly text: Uint8Array;

  constructor(event: string, text: Uint8Array) {
    this.event = event;
    this.text = text;
  }

  /** Rarely asked for, as the next one. */
  get uuid(): string {
    return this.#parse().uuid;
  }

  get distinctId(): string {
    return this.#parse().properties.distinct_id;
  }

  #parse() {
    return JSON.parse(Buffer.from(this.text).toString('utf8')) as {
      readonly uuid: string;
      readonly properties: { readonly distinct_id: string };
    };
  }
}

export function createMergeEvent(userId: string, anonId: string, time: string): SyntheticEvent {
  const uuid = createEventId(['people', 'merge', userId, anonId]);
  begin({ event: '$identify', uuid, time, distinctId: userId });
  scratch.write(',"$anon_distinct_id":');
  scratch.writeString(anonId);
  return end('$identify');
}

export function createPersonEvent(
  id: string,
  time: string,
  properties: readonly FieldProperty[],
): SyntheticEvent {
  const uuid = createContentId(['people', 'person', id], properties);
  begin({ event: '$identify', uuid, time, distinctId: id });
  writeFields(properties);
  return end('$identify');
}

export function createGroupEvent(
  event: string,
  groupType: string,
  groupKey: string,
  time: string,
  properties: readonly FieldProperty[],
): SyntheticEvent {
  const uuid = createContentId(['people', 'group', event, groupType, groupKey], properties);
  begin({ event, uuid, time, distinctId: toGroupDistinctId(groupType, groupKey) });
  scratch.write(',"$group_type":');
  scratch.writeString(groupType);
  scratch.write(',"$group_key":');
  scratch.writeString(groupKey);
  writeFields(properties);
  return end(event);
}

/** Texts are put together here: as strings, each would leave a dozen pieces for every property. */
const scratch = new TextBuffer(4096);

/** Behind it, properties are written, each behind a comma. */
function begin({
  event,
  uuid,
  time,
  distinctId,
}: {
  readonly event: string;
  readonly uuid: string;
  readonly time: string;
  readonly distinctId: string;
}): void {
  scratch.end = 0;
  scratch.write('{"event":');
  scratch.writeString(event);
  scratch.write(',"uuid":"');
  scratch.write(uuid);
  scratch.write('","timestamp":');
  scratch.writeString(time);
  scratch.write(',"properties":{"distinct_id":');
  scratch.writeString(distinctId);
}

function end(event: string): SyntheticEvent {
  scratch.write(',"$geoip_disable":true}}');
  return new SyntheticEvent(event, keep(scratch.bytes, scratch.end));
}

/** Events that are made one after the other share memory, which is free when none of them is needed any more. */
let page = new Uint8Array(0);
let pageEnd = 0;
const PAGE_BYTES = 128 * 1024;

function keep(bytes: Uint8Array, length: number): Uint8Array {
  if (length > PAGE_BYTES / 4) return Uint8Array.from(bytes.subarray(0, length));
  if (pageEnd + length > page.length) {
    page = new Uint8Array(PAGE_BYTES);
    pageEnd = 0;
  }
  const kept = page.subarray(pageEnd, pageEnd + length);
  kept.set(bytes.subarray(0, length));
  pageEnd += length;
  return kept;
}

/**
 * An id of texts and of JSON.stringify of a list of fields, keys, texts and later times: uuids depend on every byte of
 * it.
 */
function createContentId(parts: readonly string[], properties: readonly FieldProperty[]): string {
  scratch.end = 0;
  for (const { field, key, text, laterMs } of properties) {
    scratch.write(scratch.end === 0 ? '[["' : ',["');
    scratch.write(field);
    writeName(key, contentNames, toContentName);
    scratch.writeString(text);
    if (laterMs !== undefined) scratch.write(`,${laterMs}`);
    scratch.write(']');
  }
  scratch.write(scratch.end === 0 ? '[]' : ']');
  const content = scratch.bytes.subarray(0, scratch.end);
  return isAscii(content)
    ? createEventIdOfBytes(parts, content)
    : createEventId([...parts, content.toString('utf8')]);
}

/** Properties of one field follow one another. */
function writeFields(properties: readonly FieldProperty[]): void {
  if (properties.length === 0) return;
  let open = '';
  for (const { field, key, text } of properties) {
    if (field === open) scratch.write(',');
    else scratch.write(`${open === '' ? '' : '}'},"${field}":{`);
    writeName(key, labels, toLabel);
    scratch.write(text);
    open = field;
  }
  scratch.write('}');
}

/** What is written for a name, by name: of a project there are few. */
const contentNames = new Map<string, Uint8Array>();
const labels = new Map<string, Uint8Array>();
const NAMES_KEPT = 1_000;
const NAME_MAX_LENGTH = 100;

/** Behind a field, and in front of a text. */
const toContentName = (name: string): string => `",${quote(name)},`;
/** In front of a value. */
const toLabel = (name: string): string => `${quote(name)}:`;

function writeName(name: string, known: Map<string, Uint8Array>, render: (name: string) => string): void {
  let bytes = known.get(name);
  if (bytes === undefined) {
    bytes = Buffer.from(render(name));
    if (known.size === NAMES_KEPT) known.clear();
    if (name.length <= NAME_MAX_LENGTH) known.set(name, bytes);
  }
  scratch.copy(bytes, 0, bytes.length);
}

const ID_MAX_LENGTH = 200;
const TAIL_LENGTH = 32;

/** The distinct id of a group's events, formed as the vendor's server libraries form it. */
export function toGroupDistinctId(groupType: string, groupKey: string): string {
  const id = `$${groupType}_${groupKey}`;
  if (id.length <= ID_MAX_LENGTH) return id;
  // The destination would cut it, and two groups might become one. Half a surrogate pair is dropped.
  const head = id.slice(0, ID_MAX_LENGTH - TAIL_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, '');
  return `${head}_${createHash('sha256').update(toHashable(id)).digest('hex').slice(0, TAIL_LENGTH)}`;
}

import { createHash } from 'node:crypto';
import { toHashable } from '../lib/hashable-text.ts';
import { TextBuffer } from '../lib/text-buffer.ts';
import { createEventId, createEventIdInPlace, HEAD_BYTES } from '../sources/mapping/event-id.ts';
import type { PropertyName } from '../state/facts/property-names.ts';
import { COMES_LATER, KIND, type PropertyPack } from './pack-properties.ts';
import { toTimeMs } from './property-decision.ts';

/**
 * An event that comes from no single record, as it is sent. Its uuid depends on its content and its subject, not
 * on how often or in which export it was seen: overlapping exports yield the same events instead of more. Of a
 * value that follows another one it depends on the source time, too.
 */
export class SyntheticEvent {
  readonly event: string;
  /** Many events wait to be sent, and a view of bytes is larger than all else that is kept of one. */
  readonly #page: Uint8Array;
  readonly #start: number;
  readonly #stop: number;

  constructor(event: string, page: Uint8Array, start: number, stop: number) {
    this.event = event;
    this.#page = page;
    this.#start = start;
    this.#stop = stop;
  }

  /**
   * JSON text of the whole event: values are canonical JSON already, and are not parsed to be written again. Many wait
   * to be sent, so it is bytes, which no collection of garbage copies.
   */
  get text(): Uint8Array {
    return this.#page.subarray(this.#start, this.#stop);
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

export function createPersonEvent(id: string, time: string, pack: PropertyPack): SyntheticEvent {
  const uuid = createContentId(['people', 'person', id], pack);
  begin({ event: '$identify', uuid, time, distinctId: id });
  writeFields(pack);
  return end('$identify');
}

export function createGroupEvent(
  event: string,
  groupType: string,
  groupKey: string,
  time: string,
  pack: PropertyPack,
): SyntheticEvent {
  const uuid = createContentId(['people', 'group', event, groupType, groupKey], pack);
  begin({ event, uuid, time, distinctId: toGroupDistinctId(groupType, groupKey) });
  scratch.write(',"$group_type":');
  scratch.writeString(groupType);
  scratch.write(',"$group_key":');
  scratch.writeString(groupKey);
  writeFields(pack);
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
  return keep(event, scratch.bytes, scratch.end);
}

/** Events that are made one after the other share memory, which is free when none of them is needed any more. */
let page = new Uint8Array(0);
let pageEnd = 0;
const PAGE_BYTES = 128 * 1024;

function keep(event: string, bytes: Uint8Array, length: number): SyntheticEvent {
  if (length > PAGE_BYTES / 4)
    return new SyntheticEvent(event, Uint8Array.from(bytes.subarray(0, length)), 0, length);
  if (pageEnd + length > page.length) {
    page = new Uint8Array(PAGE_BYTES);
    pageEnd = 0;
  }
  const start = pageEnd;
  page.set(bytes.subarray(0, length), start);
  pageEnd += length;
  return new SyntheticEvent(event, page, start, pageEnd);
}

/**
 * An id of texts and of JSON.stringify of a list of fields, keys, texts and later times: uuids depend on every byte of
 * it.
 */
function createContentId(parts: readonly string[], { rows, start, stop }: PropertyPack): string {
  const { order, names, starts, stops, marks, bytes } = rows;
  scratch.end = HEAD_BYTES;
  for (let at = start; at < stop; at += 1) {
    const row = order[at] as number;
    const mark = marks[row] as number;
    const { label } = names[row] as PropertyName;
    scratch.copy(INTRODUCTIONS[mark & KIND] as Uint8Array);
    scratch.copy(label);
    scratch.bytes[scratch.end - 1] = COMMA; // in place of the colon
    scratch.copyAsString(bytes, starts[row] as number, stops[row] as number);
    if ((mark & COMES_LATER) !== 0) scratch.write(`,${toTimeMs(rows.getTime(row))}`);
    scratch.write(']');
  }
  if (start === stop) scratch.write('[');
  else scratch.bytes[HEAD_BYTES] = BRACKET; // in place of a comma
  scratch.write(']');
  return rows.isAscii
    ? createEventIdInPlace(parts, scratch.bytes, scratch.end)
    : createEventId([...parts, scratch.bytes.toString('utf8', HEAD_BYTES, scratch.end)]);
}

/** Properties of one field follow one another. */
function writeFields({ rows, start, stop }: PropertyPack): void {
  if (start === stop) return;
  const { order, names, starts, stops, marks, bytes } = rows;
  let open = '';
  for (let at = start; at < stop; at += 1) {
    const row = order[at] as number;
    const field = FIELDS[(marks[row] as number) & KIND] as string;
    if (field === open) scratch.write(',');
    else scratch.write(`${open === '' ? '' : '}'},"${field}":{`);
    scratch.copy((names[row] as PropertyName).label);
    scratch.copy(bytes, starts[row] as number, stops[row] as number);
    open = field;
  }
  scratch.write('}');
}

/** By what rows are marked with: see PropertyFilter. */
const FIELDS = ['', '$set', '$set_once', '$set_once', '$group_set'];
const INTRODUCTIONS = FIELDS.map((field) => Buffer.from(`,["${field}",`));
const COMMA = 0x2c;
const BRACKET = 0x5b;

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

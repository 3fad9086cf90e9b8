import { createHash } from 'node:crypto';
import { toHashable } from '../lib/hashable-text.ts';
import { TextBuffer } from '../lib/text-buffer.ts';
import { createEventId, createEventIdInPlace, HEAD_BYTES } from '../sources/mapping/event-id.ts';
import type { PropertyName } from '../state/facts/property-names.ts';
import type { PropertyPack } from './pack-properties.ts';
import { COMES_LATER, KIND, toTimeMs } from './property-decision.ts';

/**
 * An event that comes from no single record, as it is sent. Its uuid depends on its content and its subject, not
 * on how often or in which export it was seen: overlapping exports yield the same events instead of more. Of a
 * value that follows another one it depends on the source time, too.
 */
export class SyntheticEvent {
  readonly event: string;
  /** Many events wait to be sent, and a view of bytes is larger than all else that is kept of one. */
  readonly #page: Buffer;
  readonly #start: number;
  readonly #stop: number;

  constructor(event: string, page: Buffer, start: number, stop: number) {
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
    return JSON.parse(this.#page.toString('utf8', this.#start, this.#stop)) as {
      readonly uuid: string;
      readonly properties: { readonly distinct_id: string };
    };
  }
}

export function createMergeEvent(userId: string, anonId: string, time: string): SyntheticEvent {
  const uuid = createEventId(['people', 'merge', userId, anonId]);
  open(userId.length + anonId.length + time.length);
  const start = begin('$identify', uuid, time, userId);
  page.write(',"$anon_distinct_id":');
  page.writeString(anonId);
  return end('$identify', start);
}

export function createPersonEvent(id: string, time: string, pack: PropertyPack): SyntheticEvent {
  const uuid = createContentId(['people', 'person', id], pack);
  open(id.length + time.length, pack.bytes);
  const start = begin('$identify', uuid, time, id);
  writeFields(pack);
  return end('$identify', start);
}

export function createGroupEvent(
  event: string,
  groupType: string,
  groupKey: string,
  time: string,
  pack: PropertyPack,
): SyntheticEvent {
  const uuid = createContentId(['people', 'group', event, groupType, groupKey], pack);
  const id = toGroupDistinctId(groupType, groupKey);
  open(event.length + id.length + groupType.length + groupKey.length + time.length, pack.bytes);
  const start = begin(event, uuid, time, id);
  page.write(',"$group_type":');
  page.writeString(groupType);
  page.write(',"$group_key":');
  page.writeString(groupKey);
  writeFields(pack);
  return end(event, start);
}

/**
 * Where events are written: those that are made one after the other share memory, which is free when none of them is
 * needed any more. It never grows, as events are in it.
 */
let page = new TextBuffer(0);
const PAGE_BYTES = 128 * 1024;

/** Makes room for an event with texts of so many characters and properties of so many bytes. */
function open(characters: number, bytes = 0): void {
  const needed = FRAME_BYTES + characters * MOST_PER_CHARACTER + bytes;
  if (page.end + needed > page.bytes.length) page = new TextBuffer(Math.max(needed, PAGE_BYTES));
}
const FRAME_BYTES = 1024;
/** What is reserved for the largest escape. */
const MOST_PER_CHARACTER = 18;

/** Behind it, properties are written, each behind a comma. Returns where the event starts. */
function begin(event: string, uuid: string, time: string, distinctId: string): number {
  const start = page.end;
  page.write('{"event":');
  page.writeString(event);
  page.write(',"uuid":"');
  page.write(uuid);
  page.write('","timestamp":');
  page.writeString(time);
  page.write(',"properties":{"distinct_id":');
  page.writeString(distinctId);
  return start;
}

function end(event: string, start: number): SyntheticEvent {
  page.write(',"$geoip_disable":true}}');
  return new SyntheticEvent(event, page.bytes, start, page.end);
}

/**
 * An id of texts and of JSON.stringify of a list of fields, keys, texts and later times: uuids depend on every byte of
 * it.
 */
function createContentId(parts: readonly string[], pack: PropertyPack): string {
  content.clear(MOST_KEPT_BYTES);
  writeContent(pack);
  const { bytes, end: stop } = content;
  return pack.rows.isAscii
    ? createEventIdInPlace(parts, bytes, stop)
    : createEventId([...parts, bytes.toString('utf8', HEAD_BYTES, stop)]);
}

const content = new TextBuffer(8 * 1024);
const MOST_KEPT_BYTES = 256 * 1024;

/** Every value is JSON text in a JSON string: what is escaped in it needs a backslash more, and nothing else an escape. */
function writeContent({ rows, start, stop, bytes: length }: PropertyPack): void {
  const { order, names, starts, stops, marks, bytes: from } = rows;
  content.reserve(HEAD_BYTES + 2 * length + (stop - start) * AROUND_BYTES + 2);
  const { bytes } = content;
  let end = HEAD_BYTES;
  for (let at = start; at < stop; at += 1) {
    const row = order[at] as number;
    const mark = marks[row] as number;
    const introduction = INTRODUCTIONS[mark & KIND] as Uint8Array;
    for (let place = 0; place < introduction.length; place += 1) bytes[end++] = introduction[place] as number;
    const { label } = names[row] as PropertyName;
    for (let place = 0; place < label.length; place += 1) bytes[end++] = label[place] as number;
    bytes[end - 1] = COMMA; // in place of the colon
    bytes[end++] = QUOTE;
    const last = stops[row] as number;
    for (let place = starts[row] as number; place < last; place += 1) {
      const code = from[place] as number;
      if (code === QUOTE || code === BACKSLASH) bytes[end++] = BACKSLASH;
      bytes[end++] = code;
    }
    bytes[end++] = QUOTE;
    if ((mark & COMES_LATER) !== 0) end += bytes.write(`,${toTimeMs(rows.getTime(row))}`, end, 'latin1');
    bytes[end++] = CLOSE_BRACKET;
  }
  bytes[HEAD_BYTES] = OPEN_BRACKET; // in place of a comma
  bytes[Math.max(end, HEAD_BYTES + 1)] = CLOSE_BRACKET;
  content.end = Math.max(end, HEAD_BYTES + 1) + 1;
}

/** More than a property has around its name and value: its field, brackets, and a time. */
const AROUND_BYTES = 64;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;

/** Properties of one field follow one another. Those that do so in the rows' bytes as well are copied at once. */
function writeFields({ rows, start, stop }: PropertyPack): void {
  if (start === stop) return;
  const { order, stops, marks, bytes } = rows;
  let open = '';
  for (let at = start; at < stop; ) {
    const row = order[at] as number;
    const field = FIELDS[(marks[row] as number) & KIND] as string;
    if (field === open) page.write(',');
    else page.write(`${open === '' ? '' : '}'},"${field}":{`);
    open = field;
    let behind = stops[row] as number;
    for (at += 1; at < stop && bytes[behind] === COMMA; at += 1) {
      const next = order[at] as number;
      if (rows.getStart(next) !== behind + 1 || FIELDS[(marks[next] as number) & KIND] !== field) break;
      behind = stops[next] as number;
    }
    page.copy(bytes, rows.getStart(row), behind);
  }
  page.write('}');
}

/** By what rows are marked with: see PropertyFilter. */
const FIELDS = ['', '$set', '$set_once', '$set_once', '$group_set'];
const INTRODUCTIONS = FIELDS.map((field) => Buffer.from(`,["${field}",`));

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

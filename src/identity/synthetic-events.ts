import { isAscii } from 'node:buffer';
import { createHash } from 'node:crypto';
import { toHashable } from '../lib/hashable-text.ts';
import { flatten } from '../lib/json/flatten.ts';
import { quote } from '../lib/json/quote.ts';
import { TextBuffer } from '../lib/text-buffer.ts';
import { createEventId, createEventIdOfBytes } from '../sources/mapping/event-id.ts';
import type { FieldProperty } from './pack-properties.ts';

/**
 * An event that comes from no single record, as it is sent. Its uuid depends on its content and its subject, not
 * on how often or in which export it was seen: overlapping exports yield the same events instead of more. Of a
 * value that follows another one it depends on the source time, too.
 */
export interface SyntheticEvent {
  readonly event: string;
  readonly uuid: string;
  readonly distinctId: string;
  /** JSON text of the whole event: values are canonical JSON already, and are not parsed to be written again. */
  readonly text: string;
}

export function createMergeEvent(userId: string, anonId: string, time: string): SyntheticEvent {
  return render({
    event: '$identify',
    uuid: createEventId(['people', 'merge', userId, anonId]),
    time,
    distinctId: userId,
    more: `,"$anon_distinct_id":${JSON.stringify(anonId)}`,
  });
}

export function createPersonEvent(
  id: string,
  time: string,
  properties: readonly FieldProperty[],
): SyntheticEvent {
  return render({
    event: '$identify',
    uuid: createContentId(['people', 'person', id], properties),
    time,
    distinctId: id,
    more: renderFields(properties),
  });
}

export function createGroupEvent(
  event: string,
  groupType: string,
  groupKey: string,
  time: string,
  properties: readonly FieldProperty[],
): SyntheticEvent {
  return render({
    event,
    uuid: createContentId(['people', 'group', event, groupType, groupKey], properties),
    time,
    distinctId: toGroupDistinctId(groupType, groupKey),
    more: `,"$group_type":${JSON.stringify(groupType)},"$group_key":${JSON.stringify(groupKey)}${renderFields(properties)}`,
  });
}

function render({
  event,
  uuid,
  time,
  distinctId,
  more,
}: {
  readonly event: string;
  readonly uuid: string;
  readonly time: string;
  readonly distinctId: string;
  /** Properties behind the first, each behind a comma. */
  readonly more: string;
}): SyntheticEvent {
  const id = JSON.stringify(distinctId);
  const start = `{"event":${JSON.stringify(event)},"uuid":"${uuid}","timestamp":${JSON.stringify(time)},"properties":{"distinct_id":`;
  const text = flatten(`${start}${id}${more},"$geoip_disable":true}}`);
  // An id is a piece of the line that it was read from, and would keep all of it: as a piece of the event it keeps nothing.
  const at = start.length + 1;
  const isPlain = id.length === distinctId.length + 2;
  return { event, uuid, distinctId: isPlain ? text.slice(at, at + distinctId.length) : distinctId, text };
}

/** Texts are put together here: as strings, each would leave a dozen pieces for every property. */
const scratch = new TextBuffer(4096);

/**
 * An id of texts and of JSON.stringify of a list of fields, keys, texts and later times: uuids depend on every byte of
 * it.
 */
function createContentId(parts: readonly string[], properties: readonly FieldProperty[]): string {
  scratch.end = 0;
  for (const { field, key, text, laterMs } of properties) {
    scratch.write(scratch.end === 0 ? '[["' : ',["');
    scratch.write(field);
    scratch.write('",');
    scratch.write(quoteName(key));
    scratch.write(',');
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
function renderFields(properties: readonly FieldProperty[]): string {
  if (properties.length === 0) return '';
  scratch.end = 0;
  let open = '';
  for (const { field, key, text } of properties) {
    if (field === open) scratch.write(',');
    else scratch.write(`${open === '' ? '' : '}'},"${field}":{`);
    scratch.write(quoteName(key));
    scratch.write(':');
    scratch.write(text);
    open = field;
  }
  scratch.write('}');
  return scratch.bytes.toString('utf8', 0, scratch.end);
}

/** Of a project there are few names. */
const quotedNames = new Map<string, string>();
const NAMES_KEPT = 1_000;
const NAME_MAX_LENGTH = 100;

function quoteName(name: string): string {
  if (name.length > NAME_MAX_LENGTH) return quote(name);
  const known = quotedNames.get(name);
  if (known !== undefined) return known;
  if (quotedNames.size === NAMES_KEPT) quotedNames.clear();
  const quoted = flatten(quote(name));
  quotedNames.set(name, quoted);
  return quoted;
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

import type { MappedEvent } from '../contract/event.ts';
import { rejected } from '../contract/outcome.ts';
import type { RejectNote } from '../contract/progress.ts';
import type { ParseBytes } from '../sources/formats/parse-record.ts';
import type { ImportMap } from '../sources/source.ts';
import { toContent, toEventKey } from '../state/fingerprints.ts';
import type { PartRecords } from '../state/part-records.ts';
import { hashKey, KEY_WORDS } from './event-hash.ts';
import { type EventWriter, HASH_WORDS } from './event-writer.ts';
import { shareUuids } from './leave-out.ts';
import { mapRecord } from './map-record.ts';

/** Keys of the events of a part, and their UTC days. */
export interface PartKeys {
  readonly keys: ReadonlySet<string>;
  readonly days: ReadonlySet<string>;
}

/** By key, the contents of events that were delivered and whose records are gone. */
export type TakenEvents = ReadonlyMap<string, ReadonlySet<string>>;

export const NOTHING_TAKEN: TakenEvents = new Map();

/** Of a record that is one event, or of one of several with these. */
export const WITHHELD = rejected(
  'same_id_other_content',
  'an event with the same uuid, event name, distinct_id and day, and other content, is in the record as well, or was sent by the migration or a replay of it that was removed, so that nobody could send that one again; so this one was not sent, and a replay of this migration sends it under a uuid of its own',
);

/** Maps all records of a part for the keys of their events. */
export function listPartKeys(records: PartRecords, parse: ParseBytes, map: ImportMap): PartKeys {
  const keys = new Set<string>();
  const days = new Set<string>();
  const words = new Int32Array(KEY_WORDS);
  for (let record = 0; record < records.count; record += 1) {
    const outcome = mapRecord(records, record, parse, map);
    if (outcome.kind !== 'mapped') continue;
    for (const event of outcome.events) {
      hashKey(event, words);
      keys.add(toEventKey(words, 0));
      days.add(event.timestamp.slice(0, 10));
    }
  }
  return { keys, days };
}

/** Numbers of events of a record, with their keys. */
export type WithheldEvents = ReadonlyMap<number, string>;
export const NONE_WITHHELD: WithheldEvents = new Map();

/**
 * Which events of the record that was written last would take the place of one that is gone, or of another one of the
 * record. An equal one may be sent again.
 */
export function findWithheld(
  writer: EventWriter,
  events: readonly MappedEvent[],
  taken: TakenEvents,
): WithheldEvents {
  if (taken.size === 0 && !shareUuids(events)) return NONE_WITHHELD;
  const withheld = new Map<number, string>();
  const first = new Map<string, string>();
  const contested = new Set<string>();
  const keys = events.map((_, event) => readKey(writer, events.length, event));
  for (const [event, key] of keys.entries()) {
    const content = toContent(wordsOf(writer, events.length), event * HASH_WORDS);
    if ((first.get(key) ?? content) !== content) contested.add(key);
    first.set(key, content);
    const contents = taken.get(key);
    if (contents && !contents.has(content)) withheld.set(event, key);
  }
  for (const [event, key] of keys.entries()) if (contested.has(key)) withheld.set(event, key);
  return withheld;
}

const wordsOf = (writer: EventWriter, events: number) => (events === 1 ? writer.words : writer.several);
const readKey = (writer: EventWriter, events: number, event: number): string =>
  toEventKey(wordsOf(writer, events), event * HASH_WORDS);

/**
 * The same of a record that has its outcome: more may have been removed since, and what was sent keeps its fingerprint.
 * `note`: why it was rejected.
 */
export function findWithheldBefore(
  writer: EventWriter,
  events: number,
  note: Pick<RejectNote, 'reason' | 'accepted'> | undefined,
): WithheldEvents {
  if (note?.reason !== WITHHELD.reason) return NONE_WITHHELD;
  const accepted = new Set(note.accepted);
  const withheld = new Map<number, string>();
  for (let event = 0; event < events; event += 1) {
    const key = readKey(writer, events, event);
    if (!accepted.has(key)) withheld.set(event, key);
  }
  return withheld;
}

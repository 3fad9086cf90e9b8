import type { MappedEvent } from '../contract/event.ts';
import type { MapOutcome } from '../contract/outcome.ts';
import { TextBuffer } from '../lib/text-buffer.ts';
import { toEventKey } from '../state/fingerprints.ts';
import type { SentOfRecord } from '../state/rejects/sent-before.ts';
import { hashKey, KEY_WORDS } from './event-hash.ts';
import { EventWriter } from './event-writer.ts';

type Mapped = MapOutcome<MappedEvent>;

/** An event, and the same under the vendor's ids. */
interface Pair {
  readonly event: MappedEvent;
  readonly vendor: MappedEvent;
}

interface LeftOut {
  /** What of the record is not to be sent. */
  readonly before: SentOfRecord | undefined;
  /** Whether its events have ids of the whole record. */
  readonly hasOwnIds: boolean;
}

/** Without the events of a replayed record that a destination has, or gets with another event of the record. */
export function leaveOut(outcome: Mapped, { before, hasOwnIds }: LeftOut, mapByVendor: () => Mapped): Mapped {
  if (outcome.kind !== 'mapped' || (!before && outcome.events.length < 2)) return outcome;
  const vendor = mapByVendor();
  const vendors =
    vendor.kind === 'mapped' && vendor.events.length === outcome.events.length ? vendor.events : [];
  const all = outcome.events.map((event, index) => ({ event, vendor: vendors[index] ?? event }));
  const single = hasOwnIds ? leaveOutEqual(all) : all;
  const left = before ? leaveOutSent(single, before) : single;
  if (left.length > 0) return { ...outcome, events: left.map(({ event }) => event) };
  const [first] = outcome.events;
  const of = first && { timestamp: first.timestamp, event: first.event };
  const { events: _, ...said } = outcome;
  return { ...said, kind: 'skipped', reason: 'sent_before', ...(of ? { of } : {}) };
}

/**
 * Without those that were accepted, under the ids that they have here or under the vendor's: another
 * row would stay beside the first one. A corrected map may give others, and all of these are sent; so are all where it
 * gives none for one of those that alone are to be sent.
 */
function leaveOutSent(pairs: readonly Pair[], { accepted, sends }: SentOfRecord): readonly Pair[] {
  const keys = pairs.map(({ event, vendor }) => [toKey(event), toKey(vendor)]);
  const known = new Set(keys.flat());
  const only = sends && [...sends].every((key) => known.has(key)) ? sends : undefined;
  return pairs.filter((_, index) => {
    const of = keys[index] ?? [];
    return of.every((key) => !accepted.has(key)) && (!only || of.some((key) => only.has(key)));
  });
}

/**
 * Without those that equal another one under the vendor's ids, and are one event to a destination: under ids of the whole
 * record each item has its own, and they would be several.
 */
function leaveOutEqual(pairs: readonly Pair[]): readonly Pair[] {
  if (!shareUuids(pairs.map(({ vendor }) => vendor))) return pairs;
  const text = new TextBuffer(FEW_BYTES);
  const writer = new EventWriter(text);
  const known = new Set<string>();
  return pairs.filter(({ vendor }) => {
    text.end = 0; // its hash alone is wanted
    writer.write([vendor], () => true);
    const { size } = known;
    return known.add(writer.words.join()).size > size;
  });
}

const FEW_BYTES = 4_096;

/** Of few records: their items have ids of their own, which the vendor gave twice. */
export function shareUuids(events: readonly MappedEvent[]): boolean {
  if (events.length < 2) return false;
  return new Set(events.map(({ uuid }) => uuid)).size < events.length;
}

function toKey(event: MappedEvent): string {
  const words = new Int32Array(KEY_WORDS);
  hashKey(event, words);
  return toEventKey(words, 0);
}

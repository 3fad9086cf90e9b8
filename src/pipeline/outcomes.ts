import type { MappedEvent } from '../contract/event.ts';
import type { Rejected, Skipped } from '../contract/outcome.ts';
import { Labels } from './labels.ts';
import { NONE_WITHHELD, type WithheldEvents } from './taken-events.ts';

/** Reason of a duplicate: same uuid, event name, distinct_id, UTC day and content as another record. */
export const REPEATED = 'repeated';

/** What is known of a record before its events are delivered. `sent` waits for them, the others are final. */
export const SENT = 1;
const SKIPPED = 2;
export const DUPLICATE = 3;
export const REJECTED = 4;

/** The event name under which records without an event are counted. */
export const NO_EVENT = '(none)';
export const UNKNOWN_DAY = 'unknown';

const NOTHING_WITHHELD: readonly string[] = [];

/**
 * The outcomes of the records of a part, by their numbers: a byte and a label each, and notes for the few that
 * need more. What is delivered is known later and counted from here.
 */
export class Outcomes {
  readonly labels = new Labels();
  readonly #kinds: Uint8Array;
  readonly #labelOf: Uint32Array;
  /** Numbers of events, of records with several. */
  readonly #severalEvents = new Map<number, number>();
  readonly #rejections = new Map<number, Rejected>();
  readonly #firstOf = new Map<number, number>();
  /** Of records of several events, keys of those that were not sent. */
  readonly #withheld = new Map<number, readonly string[]>();

  constructor(records: number) {
    this.#kinds = new Uint8Array(records);
    this.#labelOf = new Uint32Array(records);
  }

  /** The label of a record that became these events. */
  toLabel(events: readonly MappedEvent[], reason?: string): number {
    const first = events[0];
    return first
      ? this.labels.toNumber(first.timestamp.slice(0, 10), first.event, reason)
      : this.labels.toNumber(UNKNOWN_DAY, NO_EVENT, reason);
  }

  /** `withheld`: its other events, which would take the place of events that are gone. */
  sent(record: number, label: number, events: number, withheld: WithheldEvents = NONE_WITHHELD): void {
    this.#set(record, SENT, label);
    if (events !== 1) this.#severalEvents.set(record, events);
    if (withheld.size > 0) this.#withheld.set(record, [...withheld.values()]);
  }

  skipped(record: number, { reason, facts, of }: Skipped): void {
    const day = (of?.timestamp ?? facts[0]?.time)?.slice(0, 10) ?? UNKNOWN_DAY;
    this.#set(record, SKIPPED, this.labels.toNumber(day, of?.event ?? NO_EVENT, reason));
  }

  /** `first`: number of the record that it repeats. */
  duplicate(record: number, events: readonly MappedEvent[], first: number): void {
    this.#set(record, DUPLICATE, this.toLabel(events, REPEATED));
    this.#firstOf.set(record, first);
  }

  rejected(record: number, rejection: Rejected, events: readonly MappedEvent[] = []): void {
    const { of, reason } = rejection;
    const label = of
      ? this.labels.toNumber(of.timestamp.slice(0, 10), of.event ?? NO_EVENT, reason)
      : this.toLabel(events, reason);
    this.#set(record, REJECTED, label);
    this.#rejections.set(record, rejection);
  }

  getKind(record: number): number {
    return this.#kinds[record] ?? 0;
  }

  getLabel(record: number): number {
    return this.#labelOf[record] ?? 0;
  }

  countEvents(record: number): number {
    return this.#severalEvents.get(record) ?? 1;
  }

  getRejection(record: number): Rejected | undefined {
    return this.#rejections.get(record);
  }

  getFirst(record: number): number | undefined {
    return this.#firstOf.get(record);
  }

  getWithheld(record: number): readonly string[] {
    return this.#withheld.get(record) ?? NOTHING_WITHHELD;
  }

  #set(record: number, kind: number, label: number): void {
    this.#kinds[record] = kind;
    this.#labelOf[record] = label;
  }
}

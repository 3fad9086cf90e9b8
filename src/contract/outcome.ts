import type { MappedEvent, TargetEvent } from './event.ts';
import type { Heard } from './heard.ts';
import type { IdentityFact, Seen } from './identity-fact.ts';

/** The result of mapping one record. Bad data is a value: a map never throws (invariant I7). */
export type MapOutcome<Event extends MappedEvent = TargetEvent> = Mapped<Event> | Skipped | Rejected;

export interface Mapped<Event extends MappedEvent = TargetEvent> {
  readonly kind: 'mapped';
  /** At least one. Records are duplicates when their first events have the same uuid. */
  readonly events: readonly Event[];
  readonly facts: readonly IdentityFact[];
  readonly userId?: UserId;
  readonly otherUserIds?: OtherUserIds;
  readonly seen?: Seen | undefined;
  readonly heard?: Heard | undefined;
}

export interface Skipped {
  readonly kind: 'skipped';
  readonly reason: SkipReason;
  /** A skipped record may still carry facts about persons and groups. */
  readonly facts: readonly IdentityFact[];
  readonly userId?: UserId;
  readonly otherUserIds?: OtherUserIds;
  /** What it is counted under, where that is known. @default the time of its first fact, and no event name */
  readonly of?: { readonly timestamp: string; readonly event?: string };
  readonly seen?: Seen | undefined;
  readonly heard?: Heard | undefined;
}

/**
 * The id of a known user that the record names. Whoever is a user is never merged into another one, even if
 * no record pairs it with an anonymous id. No fact of its own, so that no record costs an object for it.
 */
type UserId = string | undefined;

/** Of a record that names several users: the ids of the others. */
type OtherUserIds = readonly string[];

export interface Rejected {
  readonly kind: 'rejected';
  readonly reason: RejectReason;
  /** One sentence for the operator: the field, the value (shortened) and the rule. */
  readonly detail: string;
  /** What it is counted under, where that is known. @default no day, and no event name */
  readonly of?: { readonly timestamp: string; readonly event?: string };
  /** Its other facts count once it is replayed. */
  readonly heard?: Heard | undefined;
}

/**
 * `feeds_people` and `feeds_groups` mark records that carry facts about persons or groups and no event, `no_items`
 * those whose list is empty where each item would be an event, `merged_ids` rows of a file that says which of the
 * vendor's persons are one, `sent_before` those of a replay all of whose events were accepted before it,
 * `before_window` and `after_window` those of another time than the manifest's window.
 */
export type SkipReason =
  | 'feeds_people'
  | 'feeds_groups'
  | 'session_marker'
  | 'excluded_by_manifest'
  | 'no_items'
  | 'merged_ids'
  | 'sent_before'
  | 'before_window'
  | 'after_window';

export type RejectReason =
  | 'unreadable' // not JSON, not a CSV row of the header's width, not UTF-8
  | 'not_an_object'
  | 'record_too_large'
  | 'no_event_name'
  | 'no_identity'
  | 'no_timestamp'
  | 'bad_timestamp'
  | 'in_the_future' // later than any event that the destination would store under its own time
  | 'id_too_long'
  | 'event_name_too_long'
  | 'bad_field'
  | 'event_too_large'
  | 'same_id_other_content' // found once all events are in
  | 'refused'; // by the destination

export const mapped = <Event extends MappedEvent>(
  events: readonly Event[],
  facts: readonly IdentityFact[] = [],
  userId?: UserId,
  seen?: Seen,
): Mapped<Event> => ({ kind: 'mapped', events, facts, userId, seen });

export const skipped = (
  reason: SkipReason,
  facts: readonly IdentityFact[] = [],
  userId?: UserId,
  seen?: Seen,
): Skipped => ({ kind: 'skipped', reason, facts, userId, seen });

export const rejected = (reason: RejectReason, detail: string): Rejected => ({
  kind: 'rejected',
  reason,
  detail,
});

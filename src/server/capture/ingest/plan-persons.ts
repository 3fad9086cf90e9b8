import type { IncomingEvent } from '../incoming-event.ts';
import { MAX_PROFILE_CHARACTERS } from '../limits.ts';
import { countGrowth, countGrowthAtMost, fitProfile, measureOwn } from './fit-profile.ts';
import { isIllegalId } from './illegal-id.ts';
import { isPersonless, toMergeRequest } from './merge-request.ts';
import { applyChanges, type ChangedValues, findChanges } from './person-changes.ts';

/**
 * Decides what a batch changes about persons, from the rows that its ids had before. Nothing here touches
 * the database: person-store.ts reads `KnownPersons` and writes the plan.
 */
export interface Person {
  readonly uuid: string;
  readonly properties: ReadonlyMap<string, unknown>;
  readonly isIdentified: boolean;
  /** ISO 8601 UTC with milliseconds, so that text order is time order. */
  readonly createdAt: string;
  /** Of `properties` as the database writes them. @default they are measured */
  readonly characters?: number;
}

export interface PersonToSave extends Person {
  /** `properties` as JSON text. */
  readonly propertiesText: string;
}

export interface KnownPersons {
  readonly persons: readonly Person[];
  /** Distinct id → uuid of its person. */
  readonly owners: ReadonlyMap<string, string>;
}

export interface PersonsPlan {
  readonly created: readonly PersonToSave[];
  readonly updated: readonly PersonToSave[];
  /** Known persons that end, and the one that takes their ids. */
  readonly merged: readonly { readonly from: string; readonly into: string }[];
  /** Distinct ids seen for the first time, in that order. */
  readonly added: readonly { readonly distinctId: string; readonly personUuid: string }[];
  /** Person of every distinct id that has one when the batch is over. */
  readonly owners: ReadonlyMap<string, string>;
  readonly warnings: Readonly<Partial<Record<PersonsWarning, number>>>;
}

export type PersonsWarning =
  | 'cannot_merge_with_illegal_distinct_id'
  | 'cannot_merge_already_identified'
  | 'person_properties_size_violation'
  | 'merged_properties_left_out';

/** Every distinct id that a batch names. */
export function collectDistinctIds(events: readonly IncomingEvent[]): string[] {
  const ids = new Set<string>();
  for (const event of events) {
    ids.add(event.distinctId);
    const merge = toMergeRequest(event);
    if (merge !== undefined) ids.add(merge.otherId);
  }
  return [...ids];
}

/** A person while the batch is planned. */
interface Draft {
  readonly uuid: string;
  readonly isNew: boolean;
  /** Those of before until something changes: `edit` copies them. */
  properties: ReadonlyMap<string, unknown>;
  edited: Map<string, unknown> | undefined;
  /** Names of properties of merged persons, until an event sets them. */
  readonly takenOver: Set<string>;
  /** Length of the person's own properties as JSON text; at least that, until it was measured. */
  length: number;
  isMeasured: boolean;
  isIdentified: boolean;
  createdAt: string;
  isChanged: boolean;
  mergedInto: Draft | undefined;
}

export function planPersons(
  events: readonly IncomingEvent[],
  known: KnownPersons,
  createUuid: () => string,
): PersonsPlan {
  const drafts = new Map<string, Draft>();
  for (const person of known.persons) {
    drafts.set(person.uuid, {
      ...person,
      length: person.characters ?? Number.POSITIVE_INFINITY,
      isMeasured: false,
      edited: undefined,
      takenOver: new Set(),
      isNew: false,
      isChanged: false,
      mergedInto: undefined,
    });
  }
  const owners = new Map<string, Draft>();
  for (const [distinctId, uuid] of known.owners) {
    const draft = drafts.get(uuid);
    if (draft !== undefined) owners.set(distinctId, draft);
  }
  const added: string[] = [];
  const warnings: Partial<Record<PersonsWarning, number>> = {};
  const warn = (warning: PersonsWarning, count = 1) => {
    if (count > 0) warnings[warning] = (warnings[warning] ?? 0) + count;
  };

  /** The survivor's properties take precedence. */
  function absorb(survivor: Draft, other: Draft): void {
    const properties = edit(survivor);
    for (const [key, value] of other.properties) {
      if (properties.has(key)) continue;
      properties.set(key, value);
      survivor.takenOver.add(key);
    }
    if (other.createdAt < survivor.createdAt) survivor.createdAt = other.createdAt;
    survivor.isChanged = true;
    other.mergedInto = survivor;
  }

  const findOwner = (distinctId: string) => follow(owners.get(distinctId));

  function own(distinctId: string, draft: Draft): void {
    owners.set(distinctId, draft);
    added.push(distinctId);
  }

  function create(event: IncomingEvent): Draft {
    const properties = new Map([['$creator_event_uuid', event.uuid]]);
    const draft: Draft = {
      uuid: createUuid(),
      isNew: true,
      properties,
      length: NEW_LENGTH,
      isMeasured: false,
      edited: undefined,
      takenOver: new Set(),
      isIdentified: false,
      createdAt: event.timestamp,
      isChanged: true,
      mergedInto: undefined,
    };
    drafts.set(draft.uuid, draft);
    own(event.distinctId, draft);
    return draft;
  }

  function merge(event: IncomingEvent): PersonsWarning | undefined {
    const request = toMergeRequest(event);
    if (request === undefined || request.otherId === event.distinctId) return undefined;
    const { otherId, force } = request;
    if (isIllegalId(otherId) || isIllegalId(event.distinctId)) return 'cannot_merge_with_illegal_distinct_id';
    const other = findOwner(otherId);
    let into = findOwner(event.distinctId);
    if (into === undefined) {
      if (other === undefined) into = create(event);
      else own(event.distinctId, other);
    }
    const survivor = into ?? other;
    if (survivor === undefined) return undefined;
    if (other === undefined) own(otherId, survivor);
    const refused = other !== undefined && other !== survivor && other.isIdentified && !force;
    if (other !== undefined && other !== survivor && !refused) absorb(survivor, other);
    if (!survivor.isIdentified) {
      survivor.isIdentified = true;
      survivor.isChanged = true;
    }
    return refused ? 'cannot_merge_already_identified' : undefined;
  }

  for (const event of events) {
    if (isPersonless(event)) continue;
    const warning = merge(event);
    if (warning !== undefined) warn(warning);
    const person = findOwner(event.distinctId) ?? create(event);
    const changes = findChanges(person.properties, event, person.takenOver);
    if (changes === undefined) continue;
    if (makeRoom(person, changes)) {
      applyChanges(edit(person), changes);
      for (const key of changes.keys()) person.takenOver.delete(key);
      person.isChanged = true;
    } else warn('person_properties_size_violation');
  }

  const finalOwners = new Map<string, string>();
  for (const distinctId of owners.keys()) {
    const owner = findOwner(distinctId);
    if (owner !== undefined) finalOwners.set(distinctId, owner.uuid);
  }
  function toSave(draft: Draft): PersonToSave {
    const { properties, propertiesText, takenOverLeftOut } = fitProfile(draft);
    warn('merged_properties_left_out', takenOverLeftOut);
    const { uuid, isIdentified, createdAt } = draft;
    return { uuid, properties, propertiesText, isIdentified, createdAt };
  }

  const alive = [...drafts.values()].filter((draft) => draft.mergedInto === undefined);
  return {
    created: alive.filter((draft) => draft.isNew).map(toSave),
    updated: alive.filter((draft) => !draft.isNew && draft.isChanged).map(toSave),
    merged: [...drafts.values()].flatMap((draft) => {
      const into = draft.isNew || draft.mergedInto === undefined ? undefined : follow(draft.mergedInto);
      return into === undefined ? [] : [{ from: draft.uuid, into: into.uuid }];
    }),
    added: added.map((distinctId) => ({ distinctId, personUuid: finalOwners.get(distinctId) ?? '' })),
    owners: finalOwners,
    warnings,
  };
}

/** Of the properties of a person who has only `$creator_event_uuid`, at most. */
const NEW_LENGTH = 64;

/**
 * Whether the changes of one event leave the person's own properties within their limit, and are counted. Judged
 * event by event, so that the result does not depend on how events are cut into requests.
 */
function makeRoom(draft: Draft, changes: ChangedValues): boolean {
  if (!draft.isMeasured) {
    const length = draft.length + countGrowthAtMost(changes);
    if (length <= MAX_PROFILE_CHARACTERS) {
      draft.length = length;
      return true;
    }
  }
  const growth = countGrowth(draft, changes);
  const isTooLong = () => growth > 0 && draft.length + growth > MAX_PROFILE_CHARACTERS;
  if (!draft.isMeasured && isTooLong()) {
    draft.length = measureOwn(draft);
    draft.isMeasured = true;
  }
  if (isTooLong()) return false;
  draft.length += growth;
  return true;
}

function edit(draft: Draft): Map<string, unknown> {
  draft.edited ??= new Map(draft.properties);
  draft.properties = draft.edited;
  return draft.edited;
}

function follow(draft: Draft | undefined): Draft | undefined {
  let person = draft;
  while (person?.mergedInto !== undefined) person = person.mergedInto;
  return person;
}

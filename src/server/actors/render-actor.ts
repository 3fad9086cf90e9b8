import type { Db } from '../database/db.ts';
import type { Actor } from '../insights/lists/actor.ts';
import type { FoundActor } from '../insights/lists/find-actors.ts';
import { renderPerson } from '../persons/render-person.ts';
import { loadPersons, type StoredPerson } from '../persons/store.ts';
import type { ActorBody } from './schema.ts';

/** In the order they were found. Whoever has no person here is listed too: the number counts them. */
export async function renderActors(
  db: Db,
  projectId: number,
  found: readonly FoundActor[],
): Promise<ActorBody[]> {
  const ids = found.flatMap(({ actor }) => (actor.kind === 'person' ? [actor.id] : []));
  const stored = new Map((await loadPersons(db, projectId, ids)).map((person) => [person.id, person]));
  return found.map(({ actor, value }) => ({
    type: 'person',
    ...renderActor(actor, stored),
    matched_recordings: [],
    value_at_data_point: value,
  }));
}

type ActorFields = Omit<ActorBody, 'type' | 'matched_recordings' | 'value_at_data_point'>;

function renderActor(actor: Actor, stored: ReadonlyMap<number, StoredPerson>): ActorFields {
  switch (actor.kind) {
    case 'person': {
      const person = stored.get(actor.id);
      if (person === undefined) return renderNobody(String(actor.id), { id: actor.id });
      return { ...renderPerson(person), is_identified: person.isIdentified };
    }
    case 'former person':
      return renderNobody(actor.uuid, { uuid: actor.uuid });
    case 'distinct id':
      return renderNobody(actor.distinctId, { distinct_ids: [actor.distinctId] });
  }
}

/** Somebody whose events are there, but who has no person, or none any more. */
const renderNobody = (name: string, known: Partial<ActorFields>): ActorFields => ({
  id: null,
  uuid: null,
  name,
  distinct_ids: [],
  properties: {},
  created_at: null,
  is_identified: false,
  ...known,
});

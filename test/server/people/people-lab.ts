import { createSemaphore } from '../../../src/lib/async/semaphore.ts';
import type { Db } from '../../../src/server/database/db.ts';
import type { JsonObject } from '../../../src/server/http/json.ts';
import type { Actor } from '../../../src/server/insights/actor.ts';
import { createPeopleFinder } from '../../../src/server/insights/find-people.ts';
import { PEOPLE_KINDS } from '../../../src/server/insights/people-kinds.ts';
import { createLab, type Lab, NOW } from '../insights/lab.ts';
import { type Somebody, toBatch } from './history.ts';

export interface Listed {
  readonly id: string;
  readonly value: number | null;
  readonly appearances: readonly number[] | null;
}

export interface PeopleLab extends Lab {
  /** Everybody in a list, by the ids of the history. Its total is as long, or it throws. */
  list(path: string, filters: JsonObject): Promise<Listed[]>;
}

/** A project with a history, in which insights and lists can be asked for. */
export async function createPeopleLab(
  db: Db,
  people: readonly Somebody[],
  earlier?: Lab,
): Promise<PeopleLab> {
  const lab = await createLab(db, earlier);
  const batch = toBatch(people);
  if (batch.length > 0) await lab.api.send(...batch);
  const sizes = { atOnceMs: 0, firstBlocks: 1, factsAStep: 10 };
  const findPeople = createPeopleFinder({
    now: () => Date.parse(NOW),
    runInTurn: createSemaphore(1),
    sizes,
  });
  const rows = await db.query<{ id: number; distinctId: string }>(
    'select person_id as id, distinct_id as "distinctId" from person_distinct_ids where project_id = $1',
    [lab.api.project.id],
  );
  const names = new Map(rows.map(({ id, distinctId }) => [id, distinctId.replace('-visitor', '')]));
  const nameOf = (actor: Actor): string => {
    if (actor.kind === 'person') return names.get(actor.id) ?? `person ${actor.id}`;
    return actor.kind === 'distinct id' ? actor.distinctId : actor.uuid;
  };
  return {
    ...lab,
    async list(path, filters) {
      const kind = PEOPLE_KINDS.find((each) => each.path === path);
      if (kind === undefined) throw new Error(`there is no ${path}`);
      const page = { limit: 1000, offset: 0 };
      const found = await findPeople(db, lab.api.project.id, kind.parse(filters), page);
      if (found.total !== found.people.length) throw new Error(`${found.total} are ${found.people.length}`);
      return found.people.map(({ actor, ...rest }) => ({ id: nameOf(actor), ...rest }));
    },
  };
}

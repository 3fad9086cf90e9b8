import { createSemaphore } from '../../../src/lib/async/semaphore.ts';
import type { Db } from '../../../src/server/database/db.ts';
import type { JsonObject } from '../../../src/server/http/json.ts';
import type { Actor } from '../../../src/server/insights/lists/actor.ts';
import { ACTOR_LISTS } from '../../../src/server/insights/lists/actor-lists.ts';
import { createActorFinder } from '../../../src/server/insights/lists/find-actors.ts';
import { createLab, type Lab, NOW } from '../insights/lab.ts';
import { type Somebody, toBatch } from './history.ts';

export interface Listed {
  readonly id: string;
  readonly value: number | null;
  readonly appearances: readonly number[] | null;
}

export interface ActorLab extends Lab {
  /** Everybody in a list, by the ids of the history. Its total is as long, or it throws. */
  list(path: string, filters: JsonObject): Promise<Listed[]>;
  /** A static cohort of persons by the ids of the history; its id. */
  makeCohort(ids: readonly string[]): Promise<number>;
  /** An action of these steps; its id. */
  makeAction(steps: readonly JsonObject[]): Promise<number>;
}

/** A project with a history, in which insights and lists can be asked for. */
export async function createActorLab(db: Db, people: readonly Somebody[], earlier?: Lab): Promise<ActorLab> {
  const lab = await createLab(db, earlier);
  const batch = toBatch(people);
  if (batch.length > 0) await lab.api.send(...batch);
  const sizes = { atOnceMs: 0, firstBlocks: 1, factsAStep: 10, eventsForTwo: -1 };
  const findActors = createActorFinder({
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
    async makeCohort(ids) {
      const [cohort] = await db.query<{ id: number }>(
        `with made as (insert into cohorts (project_id, name, is_static, filters)
            values ($1, 'c', true, '{}') returning id),
          members as (insert into cohort_members (cohort_id, person_id)
            select distinct made.id, d.person_id from made, person_distinct_ids d
            where d.project_id = $1 and d.distinct_id = any($2::text[]) returning 1)
        select id from made`,
        [lab.api.project.id, ids],
      );
      return cohort?.id ?? 0;
    },
    async makeAction(steps) {
      const response = await lab.api.call('POST', 'actions/', { name: 'generated', steps });
      if (response.status !== 201) throw new Error(await response.text());
      return ((await response.json()) as { id: number }).id;
    },
    async list(path, filters) {
      const kind = ACTOR_LISTS.find((each) => each.path === path);
      if (kind === undefined) throw new Error(`there is no ${path}`);
      const page = { limit: 1000, offset: 0 };
      const found = await findActors(db, lab.api.project.id, kind.parse(filters), page);
      if (found.total !== found.actors.length) throw new Error(`${found.total} are ${found.actors.length}`);
      return found.actors.map(({ actor, ...rest }) => ({ id: nameOf(actor), ...rest }));
    },
  };
}

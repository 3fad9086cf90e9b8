import { lockProject } from '../capture/ingest/project-lock.ts';
import { ApiError, invalidInput, notFound } from '../http/errors.ts';
import { isUuid, parseRowId } from '../http/row-id.ts';
import { type CountDeps, countMembers } from './count-cohorts.ts';
import { addMembers, findPersons, type NamedPersons, removeMembers } from './member-store.ts';
import type { MembersBody } from './schema.ts';
import { loadCohortsById } from './store.ts';

const MAX_NAMED = 5;

/**
 * Adds persons to a static cohort, all or none, or removes those of them who are there. It waits for the
 * project's lock: a merge takes memberships along, and none may come in meanwhile.
 */
export async function changeMembers(
  deps: CountDeps,
  projectId: number,
  cohortId: number,
  change: 'add' | 'remove',
  body: MembersBody,
): Promise<void> {
  const wanted = parsePersons(body);
  await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    const [cohort] = await loadCohortsById(tx, projectId, [cohortId]);
    if (cohort === undefined || cohort.deleted) throw notFound();
    if (!cohort.isStatic) {
      throw invalidInput('The members of a dynamic cohort are those that fit its filters.');
    }
    const found = await findPersons(tx, projectId, wanted);
    if (change === 'add') refuseMissing(wanted, new Set(found.map(({ named }) => named)));
    const ids = found.map(({ id }) => id);
    await (change === 'add' ? addMembers : removeMembers)(tx, cohortId, ids);
  });
  await countMembers(deps, projectId, cohortId);
}

function parsePersons({ person_ids: named = [], distinct_ids: distinctIds = [] }: MembersBody): NamedPersons {
  if (named.length + distinctIds.length === 0) {
    throw new ApiError(400, 'validation_error', 'required', 'This field is required.', 'person_ids');
  }
  const texts = named.map((name) => String(name).trim().toLowerCase());
  const wrong = texts.find((text) => !isUuid(text) && parseRowId(text) === undefined);
  if (wrong !== undefined) {
    throw invalidInput(`"${wrong.slice(0, 60)}" is no id of a person: an integer or a uuid.`, 'person_ids');
  }
  return {
    ids: texts.filter((text) => !isUuid(text)).map(Number),
    uuids: texts.filter(isUuid),
    distinctIds,
  };
}

function refuseMissing({ ids, uuids, distinctIds }: NamedPersons, found: ReadonlySet<string>): void {
  const missing = [...ids.map(String), ...uuids, ...distinctIds].filter((name) => !found.has(name));
  if (missing.length === 0) return;
  const names = missing.slice(0, MAX_NAMED).map((name) => `"${name.slice(0, 60)}"`);
  const more = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : '';
  const attr = distinctIds.includes(missing[0] ?? '') ? 'distinct_ids' : 'person_ids';
  throw invalidInput(`These persons do not exist: ${names.join(', ')}${more}.`, attr);
}

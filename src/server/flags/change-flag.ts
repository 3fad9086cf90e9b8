import { parseJson } from '../../lib/json/parse-json.ts';
import { recordChangeOfFields } from '../activity/activity-log.ts';
import { lockProject } from '../capture/ingest/project-lock.ts';
import type { Queryable } from '../database/db.ts';
import { ApiError, invalidInput, notFound } from '../http/errors.ts';
import { checkDefinition } from './check-definition.ts';
import type { Flag } from './flag.ts';
import { findCycle, listDependencies } from './parse-flag.ts';
import { compileStored, readAll, readStored } from './project-flags.ts';
import { readFilters } from './read-filters.ts';
import type { ChangedFlagBody, NewFlagBody } from './schema.ts';
import {
  countFlags,
  insertFlag,
  loadFlagById,
  loadFlagByKey,
  loadFlags,
  type StoredFlag,
  updateFlag,
} from './store.ts';

/** Every decision goes through all of them. */
export const MAX_FLAGS_OF_PROJECT = 1000;

export interface ChangeContext {
  readonly projectId: number;
  /** Id of the calling user; null: the system itself. */
  readonly userId: number | null;
}

/** Creates a flag within the caller's transaction, and returns its id. */
export async function createFlag(
  tx: Queryable,
  context: ChangeContext,
  wanted: NewFlagBody,
): Promise<number> {
  const { projectId, userId } = context;
  await lockProject(tx, projectId);
  refuseStrayShare(wanted);
  const { key, name = '', filters = {}, active = true, ensure_experience_continuity } = wanted;
  await refuseTakenKey(tx, projectId, key, undefined);
  if ((await countFlags(tx, projectId)) >= MAX_FLAGS_OF_PROJECT) {
    throw invalidInput(`A project may have ${MAX_FLAGS_OF_PROJECT} flags at most.`);
  }
  checkDefinition({ id: 0, key, version: 1, keepsValue: false, filters });
  const keepsValue = ensure_experience_continuity ?? false;
  const id = await insertFlag(tx, projectId, userId, { key, name, active, keepsValue, filters });
  await checkAll(tx, projectId, id);
  await recordChangeOfFields(tx, context, {
    scope: 'FeatureFlag',
    activity: 'created',
    id,
    name: key,
    fields: null,
  });
  return id;
}

/** Omitted fields stay as they are. A deleted flag can only be restored. */
export async function changeFlag(
  tx: Queryable,
  context: ChangeContext,
  id: number,
  wanted: ChangedFlagBody,
): Promise<void> {
  const { projectId } = context;
  await lockProject(tx, projectId);
  const flag = await loadFlagById(tx, projectId, id);
  if (flag === undefined || (flag.deleted && wanted.deleted !== false)) throw notFound();
  refuseOlderVersion(flag, wanted.version);
  refuseStrayShare(wanted);
  const { key, name, filters, active, deleted, ensure_experience_continuity } = wanted;
  if (key !== undefined || deleted === false) await refuseTakenKey(tx, projectId, key ?? flag.key, id);
  if (deleted === true || active === false) {
    await refuseWhereNeeded(tx, projectId, flag, [flag.key, String(id)], 'active');
  } else if (key !== undefined && key !== flag.key) {
    await refuseWhereNeeded(tx, projectId, flag, [flag.key], 'key');
  }
  if (filters !== undefined) {
    checkDefinition({ id, key: key ?? flag.key, version: flag.version, keepsValue: false, filters });
  }
  const keepsValue = ensure_experience_continuity ?? undefined;
  await updateFlag(tx, id, { key, name, active, deleted, keepsValue, filters });
  // Whatever is wrong with a flag, it can be switched off.
  if (active !== false && deleted !== true) await checkAll(tx, projectId, id);
  const fields = Object.entries({ key, name, filters, active, deleted, ensure_experience_continuity });
  const touched = fields.flatMap(([field, value]) => (value === undefined ? [] : [field]));
  await recordChangeOfFields(tx, context, {
    scope: 'FeatureFlag',
    activity: deleted === true ? 'deleted' : 'updated',
    id,
    name: key ?? flag.key,
    fields: touched,
  });
}

/** The definition of a stored flag; undefined where it cannot be read any more. */
export const parseStoredFilters = ({ filters }: StoredFlag): object | undefined =>
  readFilters(parseJson(filters), () => true).filters;

/** It is shown beside the definition, where a client that means to set it may take it for a part of that. */
function refuseStrayShare({
  rollout_percentage,
  filters,
}: Pick<ChangedFlagBody, 'rollout_percentage' | 'filters'>): void {
  if (typeof rollout_percentage !== 'number' || filters?.groups) return;
  throw invalidInput(
    'A share belongs to a condition: filters.groups[].rollout_percentage.',
    'rollout_percentage',
  );
}

async function refuseTakenKey(
  tx: Queryable,
  projectId: number,
  key: string,
  ownId: number | undefined,
): Promise<void> {
  const other = await loadFlagByKey(tx, projectId, key);
  if (other === undefined || other.id === ownId) return;
  throw new ApiError(
    400,
    'validation_error',
    'unique',
    'There is already a feature flag with this key.',
    'key',
  );
}

function refuseOlderVersion(flag: StoredFlag, version: number | undefined): void {
  if (version === undefined || version >= flag.version) return;
  throw new ApiError(
    409,
    'invalid_request',
    'conflict',
    `The flag was changed meanwhile: it has version ${flag.version}, not ${version}. Read it again, and change that.`,
    'version',
  );
}

/** Others would fail that depend on it by one of these names. */
async function refuseWhereNeeded(
  tx: Queryable,
  projectId: number,
  flag: StoredFlag,
  names: readonly string[],
  attr: 'active' | 'key',
): Promise<void> {
  const others = (await loadFlags(tx, projectId)).filter(({ id, active }) => id !== flag.id && active);
  const dependent = readAll(others).flags.find((other) =>
    listDependencies(other).some((name) => names.includes(name)),
  );
  if (dependent === undefined) return;
  throw invalidInput(`The flag "${dependent.key}" depends on "${flag.key}". Change that flag first.`, attr);
}

/** Refuses flags that depend on themselves, on unknown flags or on cohorts that cannot be evaluated. */
async function checkAll(tx: Queryable, projectId: number, id: number): Promise<void> {
  const stored = await loadFlags(tx, projectId);
  const own = stored.find((flag) => flag.id === id);
  if (own === undefined) return;
  const { broken } = await compileStored(tx, projectId, [own]);
  const why = broken.get(own.key);
  if (why !== undefined) throw invalidInput(why, 'filters');
  const { flags } = readAll(stored);
  const names = new Set(flags.flatMap((flag) => [flag.key, String(flag.id)]));
  const unknown = listDependencies(readStored(own)).find((name) => !names.has(name));
  if (unknown !== undefined) throw invalidInput(`The flag "${unknown}" does not exist.`, 'filters');
  refuseTwoMeanings(flags);
  const cycle = findCycle(flags);
  if (cycle !== undefined) throw invalidInput(`The flag "${cycle}" would depend on itself.`, 'filters');
}

/** A new key of digits, or a new id, must not be what another flag has named already. */
function refuseTwoMeanings(flags: readonly Flag[]): void {
  const byId = new Map(flags.map((flag) => [String(flag.id), flag]));
  for (const other of flags.flatMap(listDependencies)) {
    const [ofId, ofKey] = [byId.get(other), flags.find(({ key }) => key === other)];
    if (ofId === undefined || ofKey === undefined || ofId === ofKey) continue;
    throw invalidInput(
      `A flag depends on "${other}", which is the id of the flag "${ofId.key}" and the key of another. Choose another key.`,
      'key',
    );
  }
}

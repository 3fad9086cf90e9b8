import { type FlagFilters, flagFiltersSchema, flagKeySchema } from '../../../../config/flags.ts';
import { invalidInput } from '../../http/errors.ts';
import { isJsonObject, type JsonObject } from '../../http/json.ts';

/** Definitions as the API of the service that they come from wrote them. */
export interface FlagExport {
  readonly flags: readonly ExportedFlag[];
  /** Names of types of groups by their index there; empty where the export does not say. */
  readonly groupTypes: ReadonlyMap<number, string>;
  /** Definitions (`{type, values}`) or descriptions of cohorts, by their id there. */
  readonly cohorts: ReadonlyMap<number, JsonObject>;
}

export interface ExportedFlag {
  readonly id: number | undefined;
  readonly key: string;
  readonly name: string;
  readonly active: boolean;
  readonly keepsValue: boolean;
  readonly filters: FlagFilters;
  /** What of it is not understood; undefined: nothing. */
  readonly fault: string | undefined;
  /** What of it has no effect here. */
  readonly notes: readonly string[];
}

/**
 * Reads the answers of `GET /api/projects/:id/feature_flags/` (a page, or its `results`) and of
 * `GET /api/feature_flag/local_evaluation?send_cohorts` (which has cohorts and types of groups too). Deleted
 * flags are left out.
 */
export function readExport(given: unknown): FlagExport {
  const root = isJsonObject(given) ? given : {};
  const list = Array.isArray(given) ? given : (root['flags'] ?? root['results']);
  if (!Array.isArray(list)) {
    throw invalidInput('There are no flags: send a list, or an object with "flags" or "results".', 'flags');
  }
  return {
    flags: list.filter((flag) => !(isJsonObject(flag) && flag['deleted'] === true)).map(readFlag),
    groupTypes: new Map(
      getEntries(root['group_type_mapping']).flatMap(([index, name]) =>
        typeof name === 'string' ? [[Number(index), name] as const] : [],
      ),
    ),
    cohorts: readCohorts(root['cohorts']),
  };
}

const getEntries = (value: unknown): [string, unknown][] =>
  isJsonObject(value) ? Object.entries(value) : [];

/** By id, or as a list of cohorts with ids. */
function readCohorts(given: unknown): Map<number, JsonObject> {
  const entries: [unknown, unknown][] = Array.isArray(given)
    ? given.map((cohort) => [isJsonObject(cohort) ? cohort['id'] : undefined, cohort])
    : getEntries(given);
  return new Map(
    entries.flatMap(([id, cohort]) => (isJsonObject(cohort) ? [[Number(id), cohort] as const] : [])),
  );
}

function readFlag(given: unknown): ExportedFlag {
  const flag = isJsonObject(given) ? given : {};
  const { id, name, active, filters = {}, rollout_percentage } = flag;
  const key = flagKeySchema.safeParse(flag['key']);
  const read = flagFiltersSchema.safeParse(
    isJsonObject(filters) && rollout_percentage !== undefined && filters['groups'] === undefined
      ? { rollout_percentage, ...filters }
      : filters,
  );
  return {
    id: typeof id === 'number' ? id : undefined,
    key: key.data ?? String(flag['key']),
    name: typeof name === 'string' ? name : '',
    active: active !== false,
    keepsValue: flag['ensure_experience_continuity'] === true,
    filters: read.data ?? {},
    fault: explain(key.error) ?? explain(read.error),
    notes: listNotes(flag),
  };
}

function explain(
  error: { readonly issues: readonly { path: PropertyKey[]; message: string }[] } | undefined,
) {
  const [issue] = error?.issues ?? [];
  return issue && `${issue.path.map(String).join('.') || 'key'}: ${issue.message}`;
}

/** Fields that change what a client gets at the service, and that mean nothing here. */
function listNotes(flag: JsonObject): string[] {
  const notes: string[] = [];
  if (flag['has_encrypted_payloads'] === true) {
    notes.push('its payloads are encrypted: clients get them as they are in the export');
  }
  if (flag['evaluation_runtime'] === 'server' || flag['evaluation_runtime'] === 'client') {
    notes.push(`it is for the ${flag['evaluation_runtime']} alone: here every client gets it`);
  }
  if (Array.isArray(flag['evaluation_tags']) && flag['evaluation_tags'].length > 0) {
    notes.push('its evaluation tags have no effect: every client gets it');
  }
  if (flag['rollback_conditions'] && flag['performed_rollback'] === false) {
    notes.push('its rollback conditions have no effect');
  }
  return notes;
}

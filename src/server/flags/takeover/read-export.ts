import { type FlagFilters, flagKeySchema, WITHOUT_EFFECT } from '../../../../config/flags.ts';
import { invalidInput } from '../../http/errors.ts';
import { isJsonObject, type JsonObject, toText } from '../../http/json.ts';
import { readFilters, type StrayField } from '../read-filters.ts';

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
  const read = readFilters(
    isJsonObject(filters) && rollout_percentage !== undefined && filters['groups'] === undefined
      ? { rollout_percentage, ...filters }
      : filters,
    isEmpty,
  );
  return {
    id: typeof id === 'number' ? id : undefined,
    key: toText(flag['key'] ?? ''),
    name: typeof name === 'string' ? name : '',
    active: active !== false,
    keepsValue: flag['ensure_experience_continuity'] === true,
    filters: read.filters ?? {},
    fault: listFaults(flag)[0] ?? ('fault' in read ? read.fault : undefined),
    notes: [
      ...listNotes(flag),
      ...('stray' in read ? read.stray : []).map(({ path }) => `its filters.${path} is empty, and left out`),
    ],
  };
}

/** Says nothing, whatever its name means. */
const isEmpty = ({ value }: Pick<StrayField, 'value'>): boolean =>
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** What changes who gets the flag, and cannot be expressed here. */
function listFaults({ key, bucketing_identifier: identifier }: JsonObject): string[] {
  const [issue] = flagKeySchema.safeParse(key).error?.issues ?? [];
  return [
    ...(issue === undefined ? [] : [`key: ${issue.message}`]),
    ...(isEmpty({ value: identifier ?? null }) || identifier === 'distinct_id'
      ? []
      : [`bucketing_identifier: its shares are by ${toText(identifier)}, here they are by distinct id`]),
  ];
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(WITHOUT_EFFECT.flag),
  'key',
  'name',
  'filters',
  'active',
  'deleted',
  'version',
  'ensure_experience_continuity',
  'bucketing_identifier',
]);

/** Fields that change what a client gets at the service, and that mean nothing here. */
function listNotes(flag: JsonObject): string[] {
  const notes: string[] = [];
  if (flag['has_encrypted_payloads'] === true) {
    notes.push('its payloads are encrypted: clients get them as they are in the export');
  }
  if (flag['evaluation_runtime'] === 'server' || flag['evaluation_runtime'] === 'client') {
    notes.push(`it is for the ${flag['evaluation_runtime']} alone: here every client gets it`);
  }
  const contexts = flag['evaluation_contexts'] ?? flag['evaluation_tags'];
  if (Array.isArray(contexts) && contexts.length > 0) {
    notes.push('its evaluation tags have no effect: every client gets it');
  }
  if (flag['rollback_conditions'] && flag['performed_rollback'] === false) {
    notes.push('its rollback conditions have no effect');
  }
  for (const [name, value] of Object.entries(flag)) {
    if (!KNOWN_FIELDS.has(name) && !isEmpty({ value })) notes.push(`its field "${name}" has no effect`);
  }
  return notes;
}

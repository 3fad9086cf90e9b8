import { invalidPayload } from '../../capture/refusal.ts';
import { invalidInput } from '../../http/errors.ts';
import { isJsonObject, type JsonObject, toText } from '../../http/json.ts';

/** What a client asks to have decided. */
export interface DecideRequest {
  /** Undefined only where `disabled`. */
  readonly distinctId: string | undefined;
  /** The id before the person was identified. */
  readonly anonymousId: string | undefined;
  /** Keys of groups, by the name of their type. */
  readonly groups: ReadonlyMap<string, string>;
  readonly personProperties: JsonObject;
  /** By the name of the type of group. */
  readonly groupProperties: ReadonlyMap<string, JsonObject>;
  /** Keys of the flags that are asked for; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** Only the configuration is asked for. */
  readonly disabled: boolean;
  /** Whether the address of the request says where the person is. */
  readonly usesLocation: boolean;
}

/** A request that is about somebody. */
export type AskedFlags = DecideRequest & { readonly distinctId: string };

const MAX_ID_CHARACTERS = 10_000;
/** More than types of groups that a project can have. */
const MAX_GROUPS = 20;
const MAX_KEYS = 1000;

/** Clients differ in what they send; unknown fields are ignored, as the service does. */
export function parseDecideRequest(payload: unknown): DecideRequest {
  const body = Array.isArray(payload) ? payload[0] : payload;
  if (!isJsonObject(body)) throw invalidPayload('Invalid payload: it must be an object.');
  const disabled = isTrue(body['disable_flags']);
  const groupProperties = new Map(
    listGroups(body['group_properties'], 'group_properties').flatMap(([type, properties]) =>
      isJsonObject(properties) ? [[type, properties] as const] : [],
    ),
  );
  return {
    distinctId: readDistinctId(body, disabled),
    anonymousId: toId(body['$anon_distinct_id']),
    groups: readGroups(body['groups']),
    personProperties: isJsonObject(body['person_properties']) ? body['person_properties'] : {},
    groupProperties,
    only: readKeys(body['flag_keys_to_evaluate'] ?? body['flag_keys']),
    disabled,
    usesLocation: !isTrue(body['geoip_disable']),
  };
}

function readDistinctId(body: JsonObject, disabled: boolean): string | undefined {
  const properties = body['properties'];
  const given =
    body['distinct_id'] ??
    body['$distinct_id'] ??
    (isJsonObject(properties) ? properties['distinct_id'] : undefined);
  const id = toId(given);
  if (id === undefined && !disabled) {
    throw invalidPayload('Decide requires a distinct_id: the flags of whom are asked for?');
  }
  return id;
}

/** Of any type, as text; undefined for a blank one. */
function toId(given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined;
  const text = toText(given).slice(0, MAX_ID_CHARACTERS);
  return text.trim() === '' ? undefined : text;
}

function readGroups(given: unknown): Map<string, string> {
  return new Map(
    listGroups(given, 'groups').flatMap(([type, key]) => {
      const id = toId(key);
      return id === undefined ? [] : [[type, id] as const];
    }),
  );
}

/** Members by the type of group. */
function listGroups(given: unknown, field: string): [string, unknown][] {
  const entries = isJsonObject(given) ? Object.entries(given) : [];
  if (entries.length <= MAX_GROUPS) return entries;
  throw invalidInput(
    `${field} names ${entries.length} types of groups, and ${MAX_GROUPS} at most are allowed.`,
    field,
  );
}

const isTrue = (value: unknown): boolean =>
  value === true || value === 1 || (typeof value === 'string' && /^(?:true|1|t|yes|on)$/i.test(value));

function readKeys(value: unknown): ReadonlySet<string> | undefined {
  if (!Array.isArray(value)) return undefined;
  return new Set(value.slice(0, MAX_KEYS).filter((key) => typeof key === 'string'));
}

/** The shape of an answer. A version that is no number comes from clients that send their own. */
export function parseVersion(text: string | undefined): 1 | 2 | 3 | 4 {
  if (text === undefined || text === '') return 1;
  const version = /^\d+$/.test(text) ? Number(text) : 2;
  if (version >= 4) return 4;
  return version === 3 ? 3 : version === 2 ? 2 : 1;
}

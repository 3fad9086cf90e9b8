import { readUuid } from '../../sources/mapping/event-id.ts';
import { readText, readTrimmedId } from '../../sources/mapping/identity.ts';
import { asFields, type Fields } from '../../sources/mapping/table.ts';
import { guessTime, type TimeGuess } from './guess-time.ts';

/** What a table seems to say, for a mapping that plans. Columns are names, or paths into objects. */
export interface ColumnGuess {
  readonly event: { readonly column: string } | { readonly constant: string };
  readonly known: readonly string[];
  readonly anonymous: readonly string[];
  readonly timestamp: TimeGuess & { readonly column: string };
  /** Other columns that hold times. */
  readonly otherTimes: readonly string[];
  readonly key: string | undefined;
  readonly uuid: string | undefined;
  readonly groups: readonly { readonly type: string; readonly column: string }[];
  readonly json: readonly string[];
  readonly renames: readonly (readonly [column: string, name: string])[];
}

/** Names as they are compared, best first. */
const EVENT = ['event', 'event_name', 'event_type', 'action', 'activity', 'event_action', 'type', 'name'];
const KNOWN = [
  'user_id',
  'userid',
  'distinct_id',
  'customer_id',
  'customerid',
  'member_id',
  'visitor_id',
  'profile_id',
  'contact_id',
  'user',
  'uid',
  'customer',
  'username',
  'email',
  'user_email',
  'person_id',
  'actor_id',
  'subscriber_id',
];
const ANONYMOUS = [
  'anonymous_id',
  'anonymousid',
  'user_pseudo_id',
  'device_id',
  'deviceid',
  'domain_userid',
  'client_id',
  'cookie_id',
  'visitor',
  'visitor_cookie',
  'network_userid',
];
const TIME = [
  'timestamp',
  'event_time',
  'event_timestamp',
  'time',
  'original_timestamp',
  'occurred_at',
  'happened_at',
  'created_at',
  'created',
  'datetime',
  'date_time',
  'ts',
  'at',
  'derived_tstamp',
  'collector_tstamp',
  'date',
  'event_date',
];
const ID = ['insert_id', 'event_id', 'message_id', 'uuid', 'event_uuid', 'id', 'fivetran_id', 'row_id'];
const GROUPS: Readonly<Record<string, string>> = {
  company_id: 'company',
  company: 'company',
  account_id: 'account',
  organization_id: 'organization',
  organisation_id: 'organization',
  org_id: 'organization',
  workspace_id: 'workspace',
  team_id: 'team',
  tenant_id: 'tenant',
};
const RENAMES: Readonly<Record<string, string>> = {
  current_url: '$current_url',
  page_url: '$current_url',
  url: '$current_url',
  page_location: '$current_url',
  referrer: '$referrer',
  page_referrer: '$referrer',
  referer: '$referrer',
  user_agent: '$raw_user_agent',
  useragent: '$raw_user_agent',
  context_user_agent: '$raw_user_agent',
  ip: '$ip',
  ip_address: '$ip',
  remote_ip: '$ip',
  user_ipaddress: '$ip',
  context_ip: '$ip',
};

/** `insertId`, `$insert_id` and `Insert ID` are one name. */
const plain = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');

interface Column {
  readonly name: string;
  readonly plain: string;
  /** Of the records that have one. */
  readonly values: readonly unknown[];
}

const NO_VALUE = new Set(['', '\\N']);

/** `fallback`: the name of the events where no column has one. A string: what a table lacks to be one of events. */
export function guessColumns(records: readonly Fields[], fallback: string): ColumnGuess | string {
  const columns = listColumns(records);
  const find = (names: readonly string[], fits: (column: Column) => boolean = () => true) =>
    names.flatMap((name) => columns.filter((column) => column.plain === name && fits(column)));

  const times = [...find(TIME), ...columns.filter(({ plain: name }) => !TIME.includes(name))].flatMap(
    (column) => {
      // A number by itself may be anything: only where the name says so.
      const isNamed =
        TIME.includes(column.plain) || /(_at|time|date|stamp|tstamp|_ts|_on)$/.test(column.plain);
      const isOfAll = column.values.length >= records.length * 0.95;
      const guess =
        isNamed || column.values.every((value) => DATE.test(String(value)))
          ? guessTime(column.values)
          : undefined;
      return guess ? [{ column: column.name, isOfAll, ...guess }] : [];
    },
  );
  const time = times.find(({ isOfAll }) => isOfAll) ?? times[0];
  if (!time) return 'no column holds times: an event needs to say when it happened';

  const isId = ({ values }: Column) => values.some((value) => readTrimmedId(value) !== undefined);
  const known = find(KNOWN, isId);
  const anonymous = find(ANONYMOUS, isId).slice(0, 2);
  const isUnique = ({ values }: Column) =>
    values.length === records.length && new Set(values.map(readText)).size === records.length;
  const ids = find(ID, isUnique);
  const subject =
    known.length + anonymous.length > 0 ? [] : find(['id', 'account_id', 'name'], isId).slice(0, 1);
  const people = [...known.slice(0, 1), ...subject];
  if (people.length + anonymous.length === 0)
    return 'no column holds the id of a person: an event needs to say who did it';

  const key = ids.find((column) => !people.includes(column));
  const event = find(
    EVENT,
    ({ values }) => values.length >= records.length * 0.95 && values.every(isName),
  )[0];
  const taken = new Set([...people, ...anonymous].map(({ name }) => name));
  const groups = [
    ...new Map(
      find(Object.keys(GROUPS))
        .filter(({ name }) => !taken.has(name))
        .map((column) => [GROUPS[column.plain] ?? '', column.name]),
    ),
  ];
  const renames = [
    ...new Map(
      find(Object.keys(RENAMES))
        .toReversed()
        .map((column) => [RENAMES[column.plain] ?? '', column.name]),
    ),
  ];
  return {
    event: event ? { column: event.name } : { constant: fallback },
    known: people.map(({ name }) => name),
    anonymous: anonymous.map(({ name }) => name),
    timestamp: time,
    otherTimes: times.filter(({ column }) => column !== time.column).map(({ column }) => column),
    key: key?.name,
    uuid: key?.values.every((value) => readUuid(value) !== undefined) ? key.name : undefined,
    groups: groups.slice(0, 5).map(([type, column]) => ({ type, column })),
    json: columns
      .filter(({ values }) => values.length > 0 && values.every(isJsonText))
      .map(({ name }) => name),
    renames: renames.map(([to, column]) => [column, to] as const),
  };
}

/** A day in numbers, in whatever order. */
const DATE = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(\D|$)/;
const NAME_MAX = 200;
const isName = (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' && value.length <= NAME_MAX && !DATE.test(value);

function isJsonText(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return false;
  try {
    return typeof JSON.parse(value) === 'object';
  } catch {
    return false;
  }
}

/** Columns, and the fields of objects one level below. */
function listColumns(records: readonly Fields[]): Column[] {
  const columns = new Map<string, unknown[]>();
  const add = (name: string, value: unknown) => {
    const values = columns.get(name) ?? [];
    columns.set(name, values);
    if (value !== null && value !== undefined && !(typeof value === 'string' && NO_VALUE.has(value)))
      values.push(value);
  };
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      add(name, value);
      for (const [inner, of] of Object.entries(asFields(value) ?? {})) add(`${name}.${inner}`, of);
    }
  }
  return [...columns].map(([name, values]) => ({ name, plain: plain(name), values }));
}

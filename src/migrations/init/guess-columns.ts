import { readUuid } from '../../sources/mapping/event-id.ts';
import { readText, readTrimmedId } from '../../sources/mapping/identity.ts';
import { asFields, type Fields } from '../../sources/mapping/table.ts';
import { ANONYMOUS, EVENT, GROUPS, ID, KNOWN, TIME } from './column-names.ts';
import { guessEventNames, guessRenames, isOfProperties, isTableOfPages, PROPERTIES } from './guess-names.ts';
import { guessNumber, type NumberGuess } from './guess-numbers.ts';
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
  /** Columns whose fields are properties of the event. */
  readonly spread: readonly string[];
  /** Names of events that the destination knows under names of its own. */
  readonly eventNames: readonly (readonly [exported: string, name: string])[];
  readonly renames: readonly (readonly [column: string, name: string])[];
  /** Columns of text that is numbers. */
  readonly numbers: readonly NumberGuess[];
}

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
  /** Of a field in an object of properties: its own name, as it is compared. */
  readonly inner: string | undefined;
  /** Of the records that have one. */
  readonly values: readonly unknown[];
}

const NO_VALUE = new Set(['', '\\N']);

/** `fallback`: the name of the events where no column has one. A string: what a table lacks to be one of events. */
export function guessColumns(records: readonly Fields[], fallback: string): ColumnGuess | string {
  const columns = listColumns(records);
  const find = (names: readonly string[], fits: (column: Column) => boolean = () => true) =>
    names.flatMap((name) => columns.filter((column) => column.plain === name && fits(column)));
  // As Mixpanel and others export what they say of an event, id and time included.
  const findInner = (names: readonly string[], fits: (column: Column) => boolean = () => true) =>
    names.flatMap((name) => columns.filter((column) => column.inner === name && fits(column)));

  const times = [
    ...find(TIME),
    ...findInner(TIME),
    ...columns.filter(({ plain: name, inner = '' }) => !TIME.includes(name) && !TIME.includes(inner)),
  ].flatMap((column) => {
    // A number by itself may be anything: only where the name says so.
    const isNamed =
      TIME.includes(column.inner ?? column.plain) ||
      /(_at|time|date|stamp|tstamp|_ts|_on)$/.test(column.plain);
    const isOfAll = column.values.length >= records.length * 0.95;
    const guess =
      isNamed || column.values.every((value) => DATE.test(String(value)))
        ? guessTime(column.values)
        : undefined;
    return guess ? [{ column: column.name, isOfAll, ...guess }] : [];
  });
  const time = times.find(({ isOfAll }) => isOfAll) ?? times[0];
  if (!time) return 'no column holds times: an event needs to say when it happened';

  const isId = ({ values }: Column) => values.some((value) => readTrimmedId(value) !== undefined);
  const outer = find(KNOWN, isId);
  const outerAnonymous = find(ANONYMOUS, isId);
  const isInside = outer.length + outerAnonymous.length === 0;
  const known = isInside ? findInner(KNOWN, isId) : outer;
  const anonymous = (isInside && known.length === 0 ? findInner(ANONYMOUS, isId) : outerAnonymous).slice(
    0,
    2,
  );
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
    ({ values }) =>
      values.length >= records.length * 0.95 && values.filter(isName).length > values.length / 2,
  )[0];
  const taken = new Set([...people, ...anonymous].map(({ name }) => name));
  const groups = [
    ...new Map(
      find(Object.keys(GROUPS))
        .filter(({ name }) => !taken.has(name))
        .map((column) => [GROUPS[column.plain] ?? '', column.name]),
    ),
  ];
  const used = new Set([...taken, event?.name, time.column, ...groups.map(([, column]) => column)]);
  const renames = guessRenames(
    columns
      .filter(({ name }) => !used.has(name))
      .map((column) => (column.inner === undefined ? column : { ...column, plain: column.inner })),
  );
  return {
    event: event
      ? { column: event.name }
      : { constant: isTableOfPages(fallback, renames) ? '$pageview' : fallback },
    eventNames: guessEventNames(event?.values ?? []),
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
    spread: columns.filter(isOfProperties).map(({ name }) => name),
    renames,
    numbers: columns
      .filter(
        ({ name }) => !used.has(name) && name !== key?.name && !times.some(({ column }) => column === name),
      )
      .flatMap((column) => guessNumber(column) ?? []),
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
  const inners = new Map<string, string>();
  const add = (name: string, value: unknown) => {
    const values = columns.get(name) ?? [];
    columns.set(name, values);
    if (value !== null && value !== undefined && !(typeof value === 'string' && NO_VALUE.has(value)))
      values.push(value);
  };
  for (const record of records) {
    for (const [name, value] of Object.entries(record)) {
      add(name, value);
      for (const [inner, of] of Object.entries(asFields(value) ?? {})) {
        add(`${name}.${inner}`, of);
        if (PROPERTIES.has(plain(name))) inners.set(`${name}.${inner}`, plain(inner));
      }
    }
  }
  return [...columns].map(([name, values]) => ({
    name,
    plain: plain(name),
    inner: inners.get(name),
    values,
  }));
}

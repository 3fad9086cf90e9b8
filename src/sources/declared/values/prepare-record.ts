import { createHmac } from 'node:crypto';
import { type Rejected, rejected } from '../../../contract/outcome.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { canonicalJson } from '../../../lib/json/canonical-json.ts';
import { isExactNumber } from '../../../lib/json/exact-number.ts';
import { shown } from '../../../lib/preview.ts';
import { readText, readTrimmedId } from '../../mapping/identity.ts';
import { asFields, type Fields } from '../../mapping/table.ts';
import { isNull } from '../declared-columns.ts';
import type { DeclaredMapping } from '../options.ts';
import type { Change } from './change-path.ts';
import { type ChangedPlace, changePlace, isTextDeclared, listPlaces } from './changed-place.ts';
import { listTextsBefore, listTextsToChange } from './json-texts.ts';
import { BAD, createTypedValue, JSON_ABOVE } from './typed-value.ts';
import { createFindMissed, type MissedText } from './undeclared-text.ts';

/** A record as the mapping reads it. */
export interface PreparedRecord {
  /** Personal data hashed, and no value changed: ids of events follow from this, whatever types are declared. */
  readonly hashed: Fields;
  /** With value maps and types applied as well. */
  readonly record: Fields;
  /** The same, for reading ids: a hash of what is no id, such as `false`, would be one that many share. */
  readonly ids: Fields;
}

/** `bad`: a value is not of its type. The record is then as far as it could be read, for its ids. */
export type PrepareRecord = (record: Fields) => PreparedRecord & { readonly bad: Rejected | undefined };

/**
 * Creates what is done to the values of a record before anything is read from them, so that a rule reaches whatever
 * a column feeds: ids, times, names, properties of events, persons and groups. Undefined where no rule is declared.
 */
export function createPrepareRecord(
  mapping: DeclaredMapping,
  {
    nullValues,
    hashKey,
    readsTexts,
  }: {
    readonly nullValues: ReadonlySet<string>;
    readonly hashKey: string | undefined;
    /** Whether what an event is made of is found in the text of `jsonColumns`. */
    readonly readsTexts: boolean;
  },
): PrepareRecord | undefined {
  const { hash, values = {}, types = {} } = mapping;
  const hashedPaths = new Set(hash?.columns ?? []);
  const hashing = hash
    ? createHash(listHashed(mapping, hash.columns), requireKey(hashKey), nullValues)
    : undefined;
  const jsonOfTypes = listTextsToChange(mapping);
  const jsonBefore = listTextsBefore(mapping, readsTexts);
  const declared = new Set([...Object.keys(values), ...Object.keys(types)]);
  const paths = [...new Set([...jsonOfTypes, ...declared])];
  const missed = createFindMissed(mapping, hash?.columns ?? []);
  if (!hashing && !missed && paths.length === 0 && jsonBefore.length === 0) return undefined;

  // What is hashed by its whole path is no value of a column of that name.
  const named = new Set([...hashedPaths, ...paths]);
  const toSteps = (all: readonly string[]) =>
    all.flatMap((path) => {
      const meanings = Object.hasOwn(values, path) ? new Map(Object.entries(values[path] ?? {})) : undefined;
      const type = Object.hasOwn(types, path) ? types[path] : undefined;
      const above = jsonOfTypes.includes(path) ? JSON_ABOVE : undefined;
      const read = type === undefined ? above : createTypedValue(type);
      const places = declared.has(path) ? listPlaces(path, mapping, named) : [{ path }];
      return places.map((place) => ({ place, meanings, type: read }));
    });
  const steps = toSteps(paths);
  const jsonSteps = jsonBefore.map((path) => ({
    place: { path },
    meanings: undefined,
    type: JSON_ABOVE,
  }));

  const run = (
    all: ReturnType<typeof toSteps>,
    from: Fields,
  ): { record: Fields; bad: Rejected | undefined } => {
    let record = from;
    let bad: Rejected | undefined;
    for (const { place, meanings, type } of all) {
      record = changePlace(record, place, (value) => {
        const text = meanings && textOf(value);
        if (text !== undefined && meanings?.has(text)) return meanings.get(text);
        if (!type || isNull(value, nullValues)) return value;
        const read = type.read(value);
        if (read !== BAD) return read;
        // What would have been hashed is not shown either.
        const { spread } = place;
        const path = spread === undefined ? place.path : `${spread}.${place.path}`;
        const holdsHashed = hashing !== undefined && jsonBefore.includes(path);
        const found = holdsHashed ? 'something else' : shown(value);
        bad ??= rejected('bad_field', `${path} is ${found}; the manifest says it is ${type.noun}`);
        return holdsHashed ? undefined : value;
      });
    }
    return { record, bad };
  };

  return (exported) => {
    const parsed = run(jsonSteps, exported);
    const unhashed = missed?.ofHash(parsed.record);
    const { hashed, ids } = hashing ? hashing(parsed.record) : { hashed: parsed.record, ids: parsed.record };
    const { record, bad } = run(steps, hashed);
    const kept = missed?.ofExclude(record);
    return {
      hashed,
      record,
      ids: ids === hashed ? record : run(steps, ids).record,
      bad:
        parsed.bad ??
        (unhashed && rejectText(unhashed, 'hash')) ??
        (kept && rejectText(kept, 'exclude')) ??
        bad,
    };
  };
}

/** Its value is not shown: it holds what is to be kept back. */
const rejectText = ({ path, typedAs }: MissedText, rule: string): Rejected =>
  rejected(
    'bad_field',
    `${path} is text of JSON that a path of mapping.${rule} leads into; say so with \`types: { ${typedAs}: json }\``,
  );

/** The places that are hashed; types are given afterwards, so text that becomes an object by its type is read here. */
export const listHashed = (mapping: DeclaredMapping, columns: readonly string[]): ChangedPlace[] =>
  columns
    .flatMap((path) => listPlaces(path, mapping, new Set(columns)))
    .map((place) =>
      place.spread === undefined ? place : { ...place, isText: isTextDeclared(place.spread, mapping) },
    );

const textOf = (value: unknown): string | undefined =>
  typeof value === 'boolean' ? String(value) : value === null ? undefined : readText(value);

const SHORTEST_KEY = 16;

function requireKey(key: string | undefined): string {
  if (key !== undefined && key.length >= SHORTEST_KEY) return key;
  throw new ConfigError(
    key === undefined
      ? 'source.mapping.hash.key: the variable that it names is not set, and nothing can be hashed without it'
      : `source.mapping.hash.key: the key has fewer than ${SHORTEST_KEY} characters, and hashes under it could be guessed; take a longer one, such as that of "openssl rand -hex 32"`,
  );
}

function createHash(
  places: readonly ChangedPlace[],
  key: string,
  nullValues: ReadonlySet<string>,
): (record: Fields) => Pick<PreparedRecord, 'hashed' | 'ids'> {
  const hashText = (text: string) => createHmac('sha256', key).update(text).digest('hex');
  let hasNobody = false;
  const hashValue: Change = (value) => {
    if (isNull(value, nullValues)) return value;
    if (Array.isArray(value)) return value.map(hashValue);
    if (isNobody(value)) {
      hasNobody = true;
      return hashText(canonicalJson(value));
    }
    // Placeholders for nobody stay: hashed, they would become an id that all of them share.
    const id = readTrimmedId(value);
    return id === undefined ? value : hashText(id);
  };
  const hashId: Change = (value) => {
    if (Array.isArray(value)) return value.map(hashId);
    return isNobody(value) ? NOBODY : hashValue(value);
  };
  // Personal data is hashed under whichever of two names a record has it.
  const change = (record: Fields, how: Change) =>
    places.reduce((changed, place) => changePlace(changed, place, how, 'all'), record);

  return (record) => {
    hasNobody = false;
    const hashed = change(record, hashValue);
    return { hashed, ids: hasNobody ? change(record, hashId) : hashed };
  };
}

/** What no id is read from: neither text nor a number. */
const isNobody = (value: unknown): boolean =>
  typeof value === 'boolean' || (asFields(value) !== undefined && !isExactNumber(value));

/** A value, so that no other column is looked at in its place, and nobody's id. */
const NOBODY = false;

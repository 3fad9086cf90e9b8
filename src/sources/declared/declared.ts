import type { MappedEvent } from '../../contract/event.ts';
import { joinHeard, toHeard } from '../../contract/heard.ts';
import type { IdentityFact } from '../../contract/identity-fact.ts';
import {
  type MapOutcome,
  mapped,
  type Rejected,
  type RejectReason,
  rejected,
  skipped,
} from '../../contract/outcome.ts';
import type { PropertyList } from '../../lib/json/property-list.ts';
import type { FindPlace } from '../../lib/places.ts';
import { exactIds, trimmedIds } from '../mapping/distinct-id.ts';
import type { IdFrom } from '../mapping/event-id.ts';
import { withHeard } from '../mapping/hear-unsaid.ts';
import type { MapsByVersion } from '../mapping/versioned-map.ts';
import { createEnrichWeb } from '../mapping/web/enrich-web.ts';
import type { MapRecord, WithGeoip, WithTimezone } from '../source.ts';
import { createDeclaredMap, type DeclaredRules, type Row, toRow } from './map-row.ts';
import type { DeclaredMapping, DeclaredOptions } from './options.ts';
import { createSortColumns, createSortColumnsFirst } from './sort-columns.ts';
import { createPrepareRecord } from './values/prepare-record.ts';
import { createUnnest } from './values/unnest.ts';

/** Records of no vendor in particular, as JSON or CSV: the maps by version. */
export const declaredMaps: MapsByVersion<DeclaredOptions & WithTimezone & WithGeoip> = {
  1: (options, idFrom) =>
    createPlainMap(
      options,
      {
        ids: exactIds,
        createSortColumns: createSortColumnsFirst,
        rejectsLongKeys: false,
        hearsDropped: false,
        finish,
      },
      idFrom,
    ),
  2: (options, idFrom) =>
    createPlainMap(
      options,
      { ids: trimmedIds, createSortColumns, rejectsLongKeys: false, hearsDropped: false, finish },
      idFrom,
    ),
  3: (options, idFrom, _onNote, findPlace, hashKey) =>
    createPreparedMap(options, idFrom, { findPlace, hashKey, readsTexts: false, keepsMore: false }),
  4: (options, idFrom, _onNote, findPlace, hashKey) =>
    createPreparedMap(options, idFrom, { findPlace, hashKey, readsTexts: true, keepsMore: false }),
  5: (options, idFrom, _onNote, findPlace, hashKey) =>
    createPreparedMap(options, idFrom, { findPlace, hashKey, readsTexts: true, keepsMore: true }),
};

/** Of the first versions: the import is sent from another address than the person had. */
const finish = (properties: PropertyList): void => properties.set('$geoip_disable', true);

function createPlainMap(
  options: DeclaredOptions & WithTimezone,
  rules: DeclaredRules,
  idFrom: IdFrom,
): MapRecord<MappedEvent> {
  const { mapRow } = createDeclaredMap(options, rules, idFrom);
  return (record) => mapRow(toRow(record));
}

/**
 * Prepares the values of a record, makes a row of each item where a list is unnested, and maps the rows: a record
 * is sent with all of its events, or rejected.
 */
function createPreparedMap(
  options: DeclaredOptions & WithTimezone & WithGeoip,
  idFrom: IdFrom,
  {
    findPlace,
    hashKey,
    readsTexts,
    keepsMore,
  }: {
    readonly findPlace: FindPlace | undefined;
    readonly hashKey: string | undefined;
    /** Whether what an event is made of is found in the text of `jsonColumns`. */
    readonly readsTexts: boolean;
    /**
     * Whether no value inside a list is lost to a new name, and nothing that a record without items says of persons
     * and groups.
     */
    readonly keepsMore: boolean;
  },
): MapRecord<MappedEvent> {
  const { mapping, geoip } = options;
  const enrich = createEnrichWeb({ geoip, findPlace });
  // A file without a column of referrers says nothing of them.
  const namesReferrer = Object.values(mapping.rename).includes('$referrer');
  const rules: DeclaredRules = {
    ids: trimmedIds,
    createSortColumns: (of, nulls) =>
      createSortColumns(of, nulls, { renamesInLists: true, keepsAll: true, keepsNested: keepsMore }),
    rejectsLongKeys: true,
    hearsDropped: true,
    finish: (properties) => enrich(properties, namesReferrer),
  };
  const nullValues = new Set(mapping.nullValues);
  const { mapRow, hear } = createDeclaredMap(options, rules, idFrom);
  const prepare = createPrepareRecord(mapping, { nullValues, hashKey, readsTexts });
  const idColumns = [mapping.distinctId.column, mapping.anonymousId?.column ?? []].flat();
  const unnest = mapping.unnest && createUnnest(mapping.unnest.column, nullValues, idColumns);
  if (!prepare && !unnest) return (record) => mapRow(toRow(record));
  const saysMore = saysOfPersons(mapping);

  return (exported) => {
    const row: Row & { readonly bad?: Rejected | undefined } = prepare?.(exported) ?? toRow(exported);
    if (!unnest) return row.bad ? withHeard(row.bad, hear(row)) : mapRow(row);
    const items = unnest(row);
    const bad = row.bad ?? items.bad;
    if (bad) return withHeard(bad, joinHeard(mapEach(items.listIds(), hear)));
    if (items.count === 0) {
      const bare = items.takeBare();
      return keepsMore ? toNoItems(mapRow({ ...bare, isBare: true }), saysMore) : toNoItems(mapRow(bare));
    }
    const rows = Array.from({ length: items.count }, (_, index) =>
      mapRow({ ...items.takeRow(index), index }),
    );
    return joinRows(rows, mapping.unnest?.column ?? '');
  };
}

function* mapEach<From, To>(all: Iterable<From>, map: (one: From) => To): Generator<To> {
  for (const one of all) yield map(one);
}

/**
 * What a record without items says: everything but events. `isKept`: where what it says of persons and groups cannot be
 * read, it is a reject, to be replayed. What only its items would have said is no fault of it.
 */
function toNoItems(row: MapOutcome<MappedEvent>, isKept = false): MapOutcome<MappedEvent> {
  if (row.kind === 'rejected')
    return isKept && !OF_ITEMS.has(row.reason) ? row : withHeard(skipped('no_items'), row.heard);
  const [event] = row.kind === 'mapped' ? row.events : [];
  const outcome = withHeard(skipped('no_items', row.facts, row.userId), row.heard);
  return event ? { ...outcome, of: { timestamp: event.timestamp } } : outcome;
}

const OF_ITEMS: ReadonlySet<RejectReason> = new Set(['no_identity', 'no_timestamp']);

const saysOfPersons = ({ person: { set, setOnce }, groups, anonymousId }: DeclaredMapping): boolean =>
  [set, setOnce, anonymousId, ...groups.map((group) => group.set)].some((each) => each !== undefined);

/** The outcome of a record from those of its rows. */
function joinRows(rows: readonly MapOutcome<MappedEvent>[], column: string): MapOutcome<MappedEvent> {
  const events: MappedEvent[] = [];
  const facts: IdentityFact[] = [];
  const users = new Set<string>();
  for (const [index, row] of rows.entries()) {
    if (row.kind === 'rejected')
      return withHeard(
        rejected(row.reason, `${column}[${index}]: ${row.detail}`),
        joinHeard(rows.map(toHeard)),
      );
    if (row.kind === 'mapped') events.push(...row.events);
    facts.push(...row.facts);
    if (row.userId !== undefined) users.add(row.userId);
  }
  const [userId, ...otherUserIds] = users;
  const outcome =
    events.length === 0 ? skipped('excluded_by_manifest', facts, userId) : mapped(events, facts, userId);
  const all = withHeard(outcome, joinHeard(rows.map(({ heard }) => heard)));
  return otherUserIds.length === 0 ? all : { ...all, otherUserIds };
}

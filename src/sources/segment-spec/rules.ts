import type { PropertyList } from '../../lib/json/property-list.ts';
import type { FindPlace } from '../../lib/places.ts';
import { exactIds, type IdRules, trimmedIds } from '../mapping/distinct-id.ts';
import { readText } from '../mapping/identity.ts';
import { copyProperties, createRenames } from '../mapping/properties.ts';
import { asFields, compileTable, type Fields, hasValue, listFields, type Table } from '../mapping/table.ts';
import { createReadIso, type ReadTime } from '../mapping/timestamp.ts';
import { chooseDeviceType, createEnrichWeb } from '../mapping/web/enrich-web.ts';
import type { OnNote, WithGeoip, WithTimezone } from '../source.ts';
import { type CreateCallId, createIdByCall, createIdByMessage } from './call-id.ts';
import { type CorrectTime, createCorrectTime, keepTime } from './call-time.ts';
import { copyOtherContext, listKnownContext, type SetProperty } from './context-fields.ts';
import { copyAndKeep, dropKept, keepOwnPlace, keepOwnSession, keepUnread, setAndKeep } from './keep-all.ts';
import type { CallOptions } from './options.ts';
import {
  createReadOwnGroup,
  createReadSameGroup,
  type ReadContextFacts,
  type ReadGroupOf,
  readContextFacts,
  readNoContextFacts,
} from './persons.ts';
import { createSetSession, type SetSession } from './session.ts';
import { CONTEXT, CONTEXT_3, PAGE, PAGE_3, RULED_CONTEXT } from './tables.ts';

/**
 * Segment and RudderStack archive the same six calls. track, page and screen become events; identify,
 * alias and group feed persons and groups.
 * https://segment.com/docs/connections/spec/common/
 */
export interface CallDialect {
  readonly source: 'segment' | 'rudderstack';
  /** Event property <- record, where the dialect differs; a row replaces the shared one. */
  readonly table: Table;
  /** The session of an event in versions 1 and 2. */
  readonly setSession?: SetSession;
}

/** What differs between versions of the mapping. */
export interface CallRules {
  readonly readTime: ReadTime;
  readonly ids: IdRules;
  readonly createId: CreateCallId;
  readonly correctTime: CorrectTime;
  readonly readGroupOf: ReadGroupOf;
  /** Whether calls that say that two ids are one person are believed of known users, too. */
  readonly saysNames: boolean;
  /** Whether events that the manifest drops say which ids are one person. */
  readonly hearsDropped: boolean;
  readonly readContextFacts: ReadContextFacts;
  /** What comes from beside the event's own properties. */
  readonly applyContext: (properties: PropertyList, record: Fields) => void;
  readonly set: SetProperty;
  /** Copies what the customer calls the properties of the event. */
  readonly copyOwn: (properties: PropertyList, own: Fields, type: EventCall) => void;
  /** Keeps what nothing else reads. */
  readonly keepUnread: (properties: PropertyList, record: Fields, type: EventCall, ids: IdRules) => void;
  /** Whether traits that are no object make their call a reject; else they are passed over. */
  readonly rejectsBadTraits: boolean;
  /** What a screen call calls its screen; `own` are its properties. */
  readonly readScreenName: (record: Fields, own: Fields | undefined) => unknown;
  /** Scheme and host of an address, where the web layer does not read it. */
  readonly host?: RegExp;
  readonly setSession: SetSession;
  /** Sets what follows from the properties that are set. */
  readonly finish: (properties: PropertyList, record: Fields) => void;
}

/** The calls that become events. */
export type EventCall = 'track' | 'page' | 'screen';

type Options = CallOptions & WithTimezone & WithGeoip;
type CreateRules = (
  dialect: CallDialect,
  options: Options,
  onNote: OnNote,
  findPlace?: FindPlace,
) => CallRules;

const replace: SetProperty = (properties, name, value) => properties.set(name, value);

/** Versions 1 to 3: what has a name of the customer's is replaced. */
function createReplacing(
  page: Table,
): Pick<CallRules, 'set' | 'copyOwn' | 'keepUnread' | 'rejectsBadTraits'> {
  const apply = compileTable(page);
  const renames = createRenames();
  const pageRenames = createRenames(listFields(page).map((name) => [name, null]));
  return {
    set: replace,
    copyOwn(properties, own, type) {
      copyProperties(properties, own, type === 'page' ? pageRenames : renames);
      if (type === 'page') apply(properties, own);
    },
    keepUnread: () => {},
    rejectsBadTraits: false,
  };
}

const REPLACING = createReplacing(PAGE);
const REPLACING_3 = createReplacing(PAGE_3);

const readGivenScreenName = (record: Fields, own: Fields | undefined): unknown =>
  hasValue(record['name']) ? record['name'] : own?.['name'];

/** RudderStack's clients of phones name the screen in `event`. */
function readAnyScreenName(record: Fields, own: Fields | undefined): unknown {
  const given = readGivenScreenName(record, own);
  return hasValue(given) ? given : record['event'];
}

const createEarlyRules =
  (ids: IdRules, createId: CreateCallId): CreateRules =>
  ({ table, setSession = () => {} }, options) => ({
    readTime: createReadIso(options.timezone),
    ids,
    createId,
    correctTime: keepTime,
    readGroupOf: createReadOwnGroup(options.groupType, ids),
    saysNames: false,
    hearsDropped: false,
    readContextFacts: readNoContextFacts,
    applyContext: compileTable({ ...CONTEXT, ...table }),
    ...REPLACING,
    readScreenName: readGivenScreenName,
    host: /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i,
    setSession,
    finish(properties) {
      if (options.dropIp) properties.delete('$ip');
      // The import is sent from another address than the person had.
      properties.set('$geoip_disable', true);
    },
  });

export const createRules1 = createEarlyRules(exactIds, createIdByMessage);
export const createRules2 = createEarlyRules(trimmedIds, createIdByCall);

export const createRules3: CreateRules = ({ source, table }, options, onNote, findPlace) => {
  const readTime = createReadIso(options.timezone);
  const enrich = createEnrichWeb({ ...options, findPlace });
  return {
    readTime,
    ids: trimmedIds,
    createId: createIdByCall,
    correctTime: createCorrectTime(readTime, onNote),
    readGroupOf: createReadSameGroup(options.groupType, onNote),
    saysNames: true,
    hearsDropped: true,
    readContextFacts,
    applyContext: createApplyContext(table, options.contextFields !== 'drop', replace),
    ...REPLACING_3,
    readScreenName: readAnyScreenName,
    setSession: createSetSession(source, readTime, onNote),
    finish: (properties, record) => enrich(properties, namesReferrer(record)),
  };
};

/** Version 4: no value is lost to another one of its name, or to its type. */
export const createRules4: CreateRules = (dialect, options, onNote, findPlace) => {
  const rules = createRules3(dialect, options, onNote, findPlace);
  return {
    ...rules,
    applyContext: createApplyContext(dialect.table, options.contextFields !== 'drop', setAndKeep),
    set: setAndKeep,
    copyOwn: copyAndKeep,
    keepUnread,
    rejectsBadTraits: true,
    setSession: keepOwnSession(dialect.source, rules.setSession),
    finish: keepOwnPlace((properties, record) => {
      if (options.dropIp) dropKept(properties, '$ip');
      rules.finish(properties, record);
    }),
  };
};

/**
 * Clients of browsers name the referrer of every page, and leave it empty where there is none.
 * https://segment.com/docs/connections/sources/catalog/libraries/website/javascript/#page
 */
const namesReferrer = (record: Fields): boolean =>
  Object.hasOwn(
    asFields(asFields(record['context'])?.['page']) ?? asFields(record['properties']) ?? {},
    'referrer',
  );

/** The context of version 3: what no table reads is kept as `context_<path>`, as warehouses call it. */
function createApplyContext(table: Table, keepsOthers: boolean, set: SetProperty): CallRules['applyContext'] {
  const apply = compileTable({ ...CONTEXT_3, ...table });
  const known = listKnownContextOf(table);
  return (properties, record) => {
    apply(properties, record);
    const context = asFields(record['context']);
    if (!context) return;
    setDeviceType(properties, context);
    if (typeof context['library'] === 'string') properties.set('$lib', context['library']);
    if (keepsOthers) copyOtherContext(properties, context, known, set);
  };
}

/**
 * `context.device.type` is a platform where clients of phones fill it in (`ios`, `Android`), and a type of device
 * only where a customer does.
 * https://segment.com/docs/connections/spec/common/#context-fields-automatically-collected
 */
function setDeviceType(properties: PropertyList, context: Fields): void {
  const device = asFields(context['device']);
  const given = readText(device?.['type']);
  if (given === undefined) return;
  const type = chooseDeviceType(given, undefined, readText(device?.['model']), undefined);
  if (type !== undefined) properties.set('$device_type', type);
}

/** Of the latest version. */
export const listKnownContextOf = (table: Table) => listKnownContext([CONTEXT_3, table], RULED_CONTEXT);

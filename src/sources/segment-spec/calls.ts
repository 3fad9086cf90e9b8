import type { MappedEvent } from '../../contract/event.ts';
import { type MapOutcome, mapped, rejected, skipped } from '../../contract/outcome.ts';
import { PropertyList } from '../../lib/json/property-list.ts';
import { shown } from '../../lib/preview.ts';
import { exactIds, type IdRules, trimmedIds } from '../mapping/distinct-id.ts';
import { createRecordId, type IdFrom } from '../mapping/event-id.ts';
import { readEventName } from '../mapping/event-name.ts';
import { readText } from '../mapping/identity.ts';
import { copyProperties, createRenames } from '../mapping/properties.ts';
import { isRejected, readRecordTime } from '../mapping/record-time.ts';
import { asFields, compileTable, type Fields, hasValue, listFields, type Table } from '../mapping/table.ts';
import { createReadIso } from '../mapping/timestamp.ts';
import type { MapsByVersion } from '../mapping/versioned-map.ts';
import type { MapRecord, WithTimezone } from '../source.ts';
import { type CreateCallId, createIdByCall, createIdByMessage } from './call-id.ts';
import type { CallOptions } from './options.ts';
import {
  DEFAULT_GROUP_TYPE,
  mapAlias,
  mapGroup,
  mapIdentify,
  readDistinctId,
  readPair,
  readUser,
} from './persons.ts';

/**
 * Segment and RudderStack archive the same six calls. track, page and screen become events; identify,
 * alias and group feed persons and groups.
 * https://segment.com/docs/connections/spec/common/
 */
export interface CallDialect {
  readonly source: 'segment' | 'rudderstack';
  /** Event property <- record, where the dialect differs; a row replaces the shared one. */
  readonly table: Table;
  /** What a table cannot express. */
  readonly finish?: (properties: PropertyList, record: Fields) => void;
}

// Event property <- record, of every call that becomes an event.
const CONTEXT: Table = {
  $lib: 'context.library.name',
  $lib_version: 'context.library.version',
  $ip: 'context.ip',
  $locale: 'context.locale',
  $timezone: 'context.timezone',
  $raw_user_agent: 'context.userAgent',
  $os: 'context.os.name',
  $os_version: 'context.os.version',
  $device_id: ['context.device.id', 'anonymousId'],
  $device_type: 'context.device.type',
  $device_name: 'context.device.name',
  $device_manufacturer: 'context.device.manufacturer',
  $device_model: 'context.device.model',
  $app_name: 'context.app.name',
  $app_version: 'context.app.version',
  $app_build: 'context.app.build',
  $app_namespace: 'context.app.namespace',
  $network_carrier: 'context.network.carrier',
  $network_wifi: 'context.network.wifi',
  $network_cellular: 'context.network.cellular',
  $network_bluetooth: 'context.network.bluetooth',
  $screen_width: 'context.screen.width',
  $screen_height: 'context.screen.height',
  $screen_density: 'context.screen.density',
  $geoip_city_name: 'context.location.city',
  $geoip_subdivision_1_name: 'context.location.region',
  $geoip_country_name: 'context.location.country',
  $geoip_latitude: 'context.location.latitude',
  $geoip_longitude: 'context.location.longitude',
  $current_url: 'context.page.url',
  $pathname: 'context.page.path',
  title: 'context.page.title',
  $referrer: 'context.page.referrer',
  utm_source: 'context.campaign.source',
  utm_medium: 'context.campaign.medium',
  utm_campaign: 'context.campaign.name',
  utm_term: 'context.campaign.term',
  utm_content: 'context.campaign.content',
};

// Event property <- properties of a page call, which know better than its context.
const PAGE: Table = {
  $current_url: 'url',
  $pathname: 'path',
  title: 'title',
  $referrer: 'referrer',
};

// Event property <- record of a page or screen call.
const NAMED: Table = { name: 'name', category: 'category' };

const RULED_FIELDS =
  'type event userId anonymousId previousId groupId messageId timestamp originalTimestamp receivedAt properties traits context';

const OWN_NAMES = createRenames();
const PAGE_NAMES = createRenames(listFields(PAGE).map((name) => [name, null]));

const applyPage = compileTable(PAGE);
const applyNamed = compileTable(NAMED);

export const listCallFields = (dialect: CallDialect): ReadonlySet<string> =>
  new Set([...[CONTEXT, NAMED, dialect.table].flatMap(listFields), ...RULED_FIELDS.split(' ')]);

/** What differs between versions of the mapping. */
interface CallRules {
  readonly ids: IdRules;
  readonly createId: CreateCallId;
}

/** The maps of a dialect by version. */
export const createCallMaps = (dialect: CallDialect): MapsByVersion<CallOptions & WithTimezone> => ({
  1: (options, idFrom) => createCallMap(dialect, options, CALL_RULES_1, idFrom),
  2: (options, idFrom) => createCallMap(dialect, options, CALL_RULES_2, idFrom),
});

const CALL_RULES_1: CallRules = { ids: exactIds, createId: createIdByMessage };
const CALL_RULES_2: CallRules = { ids: trimmedIds, createId: createIdByCall };

function createCallMap(
  dialect: CallDialect,
  options: CallOptions & WithTimezone,
  { ids, createId }: CallRules,
  idFrom: IdFrom,
): MapRecord<MappedEvent> {
  const readTime = createReadIso(options.timezone);
  const applyContext = compileTable({ ...CONTEXT, ...dialect.table });
  const dropped = new Set(options.dropEvents);

  return function mapCall(record): MapOutcome<MappedEvent> {
    const type = record['type'];
    if (type === 'track' && dropped.has(readText(record['event']) ?? ''))
      return skipped('excluded_by_manifest');
    if (type === 'page' && dropped.has('$pageview')) return skipped('excluded_by_manifest');
    if (type === 'screen' && dropped.has('$screen')) return skipped('excluded_by_manifest');

    // Segment corrects `timestamp` for the client's clock; the others are for records without one.
    const timeField = TIME_FIELDS.find((field) => hasValue(record[field])) ?? 'timestamp';
    const time = readRecordTime(record[timeField], timeField, readTime);
    if (isRejected(time)) return time;

    switch (type) {
      case 'track':
      case 'page':
      case 'screen':
        return mapEvent(record, type, time);
      case 'identify':
        return mapIdentify(record, time, ids);
      case 'alias':
        return mapAlias(record, time, ids);
      case 'group':
        return mapGroup(record, time, ids, options.groupType);
      default:
        return rejected(
          'bad_field',
          `type is ${shown(type)}; a call is one of track, page, screen, identify, alias, group`,
        );
    }
  };

  function mapEvent(
    record: Fields,
    type: 'track' | 'page' | 'screen',
    time: string,
  ): MapOutcome<MappedEvent> {
    const event =
      type === 'track' ? readEventName(record['event'], 'event') : type === 'page' ? '$pageview' : '$screen';
    if (isRejected(event)) return event;
    const distinctId = readDistinctId(record, ids);
    if (isRejected(distinctId)) return distinctId;
    const own = record['properties'];
    const ownFields = asFields(own);
    if (hasValue(own) && !ownFields) {
      return rejected('bad_field', `properties is ${shown(own)}; an object was expected`);
    }

    const properties = new PropertyList();
    properties.set('distinct_id', distinctId);
    applyContext(properties, record);
    if (type !== 'track') applyNamed(properties, record);
    // After the context: a `title` or `utm_source` of the customer's own stays theirs.
    if (ownFields) copyProperties(properties, ownFields, type === 'page' ? PAGE_NAMES : OWN_NAMES);
    if (type === 'page' && ownFields) applyPage(properties, ownFields);
    if (type === 'screen') {
      const name = hasValue(record['name']) ? record['name'] : ownFields?.['name'];
      if (hasValue(name)) properties.set('$screen_name', name);
    }
    setHost(properties);
    const groupId = ids.readSendable(asFields(record['context'])?.['groupId']);
    if (groupId !== undefined)
      properties.set('$groups', { [options.groupType ?? DEFAULT_GROUP_TYPE]: groupId });
    dialect.finish?.(properties, record);
    if (options.dropIp) properties.delete('$ip');
    // The import is sent from another address than the person had.
    properties.set('$geoip_disable', true);

    const uuid =
      idFrom === 'record'
        ? createRecordId(dialect.source, record)
        : createId(dialect.source, record, { event, distinctId, time });
    return mapped(
      [{ event, uuid, timestamp: time, properties }],
      readPair(record, time, ids),
      readUser(record, ids),
    );
  }
}

const TIME_FIELDS = ['timestamp', 'originalTimestamp', 'receivedAt'];

const HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i;

function setHost(properties: PropertyList): void {
  const url = properties.get('$current_url');
  const host = typeof url === 'string' ? HOST.exec(url)?.[1] : undefined;
  if (host !== undefined && (properties.get('$host') ?? null) === null) properties.set('$host', host);
}

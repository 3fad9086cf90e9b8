import { JsonToken, STRING } from '../../lib/json/json-token.ts';
import { type PropertyList, pinName } from '../../lib/json/property-list.ts';
import { exactIds, type IdRules, trimmedIds } from '../mapping/distinct-id.ts';
import { readText } from '../mapping/identity.ts';
import { copyProperties, createRenames } from '../mapping/properties.ts';
import { compileTable, type FieldsOrText, hasField, hasValue, listFields } from '../mapping/table.ts';
import type { AmplitudeOptions } from './options.ts';
import type { AmplitudeRules } from './rules.ts';
import { readSessionByStart } from './session.ts';
import { ANY_PLATFORM, NOT_WEB, PAGE, WEB } from './tables.ts';

const applyPage = compileTable(PAGE);
const applyAnyPlatform = compileTable(ANY_PLATFORM);
const applyWeb = compileTable(WEB);
const applyNotWeb = compileTable(NOT_WEB);

const OWN_NAMES = createRenames();
const PAGE_NAMES = createRenames(listFields(PAGE).map((name) => [name, null]));

/** Versions 1 and 2: a page is read as a whole or not at all, and nothing follows from what is set. */
const createEarlierRules =
  (ids: IdRules) =>
  ({ dropIp }: AmplitudeOptions): AmplitudeRules => ({
    ids,
    toOrder: () => '',
    timeFields: ['event_time'],
    takesAmplitudeId: true,
    rejectsLongKeys: false,
    hearsDropped: false,
    rejectsUntimedMarkers: false,
    userProperties: { toSetOnceName: toInitialName, isNone: isEmptyText, isWhole: false },
    describe(properties, record, own) {
      if (own) copyOwn(properties, own);
      applyAnyPlatform(properties, record);
      if (record['platform'] === 'Web') applyWeb(properties, record);
      else applyNotWeb(properties, record);
    },
    readSession: readSessionByStart,
    setLibrary,
    finish(properties) {
      if (dropIp) properties.delete('$ip');
      // The import is sent from another address than the person had.
      properties.set('$geoip_disable', true);
    },
  });

export const createRules1 = createEarlierRules(exactIds);
export const createRules2 = createEarlierRules(trimmedIds);

/** A property the customer sends under the destination's name keeps it; Amplitude's then stay as they were. */
function copyOwn(properties: PropertyList, own: FieldsOrText): void {
  const taken = PAGE_TARGETS.some((target) => hasField(own, target));
  copyProperties(properties, own, taken ? OWN_NAMES : PAGE_NAMES);
  if (!taken) applyPage(properties, own);
}

const PAGE_TARGETS = Object.keys(PAGE).map(pinName);

/** `amplitude-ts/2.11.1` is library and version. */
export function setLibrary(properties: PropertyList, library: unknown): void {
  if (!hasValue(library)) return;
  const text = readText(library);
  const slash = text?.lastIndexOf('/') ?? -1;
  properties.set('$lib', text && slash > 0 ? text.slice(0, slash) : library);
  if (text && slash > 0) properties.set('$lib_version', text.slice(slash + 1));
}

function isEmptyText(value: unknown): boolean {
  if (!(value instanceof JsonToken)) return value === 'EMPTY';
  return value.kind === STRING && value.length === '"EMPTY"'.length && value.read() === 'EMPTY';
}

/** Names with the destination's `$`, each made once: a new text would be looked up letter by letter. */
const initialNames = new Map<string, string>();
const INITIAL_NAMES_MAX = 1_000;

function toInitialName(key: string): string {
  let name = initialNames.get(key);
  if (name === undefined) {
    name = `$${key}`;
    if (initialNames.size < INITIAL_NAMES_MAX) initialNames.set(key, name);
  }
  return name;
}

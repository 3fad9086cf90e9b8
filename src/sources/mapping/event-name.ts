import { type Rejected, rejected } from '../../contract/outcome.ts';
import { shown } from '../../lib/preview.ts';
import { readText } from './identity.ts';

const EVENT_NAME_MAX_LENGTH = 200;

/**
 * Events of these names change persons or groups at the destination, some irreversibly. Persons are made
 * from identity facts once all events are delivered; a source never changes them directly.
 */
const PERSON_EVENTS = new Set([
  '$identify',
  '$create_alias',
  '$merge_dangerously',
  '$set',
  '$delete_person_property',
]);
const GROUP_EVENTS = new Set(['$groupidentify', '$group_identify']);

/** Whether the destination changes a person by an event of this name, and not a group. */
export const isPersonEvent = (name: string): boolean => PERSON_EVENTS.has(name);

/** Names that mean something else to the destination, which shows such events as what they are not, or drops them. */
const OTHER_EVENTS = new Set([
  '$pageview',
  '$pageleave',
  '$screen',
  '$autocapture',
  '$rageclick',
  '$feature_flag_called',
  '$exception',
  '$$heatmap',
  '$snapshot',
  '$performance_event',
]);

/** Whether an event of this name is taken for something that says nothing about persons or groups. */
export const isOtherEvent = (name: string): boolean => OTHER_EVENTS.has(name);

/** The name of an event, or why it has none. `field` says where it came from. */
export function readEventName(value: unknown, field: string): string | Rejected {
  const name = readText(value);
  if (value === undefined) {
    return rejected('no_event_name', `${field} is missing or empty; an event needs a name`);
  }
  if (name === undefined || name.trim() === '') {
    return rejected('no_event_name', `${field} is ${shown(value)}; an event needs a name`);
  }
  if (name.length > EVENT_NAME_MAX_LENGTH) {
    return rejected(
      'event_name_too_long',
      `${field} is ${shown(name)}; the destination takes ${EVENT_NAME_MAX_LENGTH} characters`,
    );
  }
  if (PERSON_EVENTS.has(name) || GROUP_EVENTS.has(name)) {
    return rejected(
      'bad_field',
      `${field} is ${shown(name)}, which would change people or groups at the destination; list it under dropEvents to leave it behind`,
    );
  }
  return name;
}

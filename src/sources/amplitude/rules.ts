import type { PropertyList } from '../../lib/json/property-list.ts';
import type { IdRules } from '../mapping/distinct-id.ts';
import type { Fields, FieldsOrText } from '../mapping/table.ts';
import type { ReadSession } from './session.ts';
import type { UserPropertyRules } from './user-properties.ts';

/** What differs between versions of the mapping. */
export interface AmplitudeRules {
  readonly ids: IdRules;
  /** Fields of the time of an event; the first that holds a value counts. */
  readonly timeFields: readonly string[];
  /** Whether `amplitude_id` names the person of a record that has neither id. */
  readonly takesAmplitudeId: boolean;
  /** Whether a key of a group that is longer than can be sent makes its call a reject; else it is passed over. */
  readonly rejectsLongKeys: boolean;
  /** Whether events that the manifest drops say which ids are one person. */
  readonly hearsDropped: boolean;
  /** Whether a session marker that says something of persons or groups is a reject where its time cannot be read. */
  readonly rejectsUntimedMarkers: boolean;
  /** What decides between records of one millisecond, and the scope, to be written behind their time. */
  readonly toOrder: (record: Fields) => string;
  readonly userProperties: UserPropertyRules;
  /** Sets what `event_properties`, where there are any, and the fields of the record say. */
  readonly describe: (properties: PropertyList, record: Fields, own: FieldsOrText | undefined) => void;
  readonly readSession: ReadSession;
  readonly setLibrary: (properties: PropertyList, library: unknown) => void;
  /** Sets what follows from the properties that are set. */
  readonly finish: (properties: PropertyList, record: Fields) => void;
}

import type { MappedEvent } from '../contract/event.ts';
import { toHeard } from '../contract/heard.ts';
import { toMoment } from '../contract/identity-fact.ts';
import { type MapOutcome, type Rejected, rejected } from '../contract/outcome.ts';
import { COOKIELESS_MARK, HOURS_AHEAD, isDropped } from '../deliver/not-stored.ts';
import { markNames, PropertyList, pinName } from '../lib/json/property-list.ts';
import type { ImportMap, MapRecord } from '../sources/source.ts';

type AnyMap<Event extends MappedEvent> = MapRecord<Event> & Pick<ImportMap, 'viewFields'>;

/**
 * A map that rejects what a destination would accept and store under another time, or not at all. `latest` is fixed
 * when a file is taken in (`toLatest`), so that a record has the same outcome on every day (I2, I8). Without it, the
 * map as it is: an earlier version took the file in, and rejected nothing of the kind.
 */
export function limitToStored<Event extends MappedEvent>(
  map: AnyMap<Event>,
  latest: string | undefined,
): AnyMap<Event> {
  if (latest === undefined) return map;

  const rejectFuture = (time: string, event?: string): Rejected => ({
    ...rejected(
      'in_the_future',
      `the time is ${time}, and ${latest} is the last one that is sent: ${HOURS_AHEAD} hours after its file was taken in. A destination stores what is later as of its arrival; replay the record once its time has passed, or correct the time`,
    ),
    of: event === undefined ? { timestamp: time } : { timestamp: time, event },
  });

  const findReject = (outcome: MapOutcome<Event>): Rejected | undefined => {
    if (outcome.kind === 'mapped') {
      // What they say about persons has their time.
      for (const { event, timestamp, properties } of outcome.events) {
        if (timestamp > latest) return rejectFuture(timestamp, event);
        if (isDropped(event)) return rejectDropped(timestamp, event);
        if (isCookieless(properties)) return rejectCookieless(timestamp, event);
      }
    } else if (outcome.kind === 'skipped') {
      for (const { time } of outcome.facts)
        if (time > latest && toMoment(time) > latest) return rejectFuture(toMoment(time));
    }
    return undefined;
  };
  const limited = (record: Parameters<typeof map>[0]): MapOutcome<Event> => {
    const outcome = map(record);
    const reject = findReject(outcome);
    return reject ? { ...reject, heard: toHeard(outcome) } : outcome;
  };
  return Object.assign(limited, { viewFields: map.viewFields });
}

const rejectDropped = (timestamp: string, event: string): Rejected => ({
  ...rejected(
    'bad_field',
    `the event is named "${event}", and the destination drops events of that name; list it under dropEvents to leave it behind`,
  ),
  of: { timestamp, event },
});

const COOKIELESS = pinName(COOKIELESS_MARK);
/** Few events have it. */
const MAY_BE_COOKIELESS = markNames([COOKIELESS_MARK]);

/** As the destination sees it: the mark counts unless its value is false, 0, null or empty. */
const isCookieless = (properties: MappedEvent['properties']): boolean =>
  properties instanceof PropertyList
    ? properties.mayHave(MAY_BE_COOKIELESS) && Boolean(properties.get(COOKIELESS))
    : Boolean(properties[COOKIELESS_MARK]);

const rejectCookieless = (timestamp: string, event: string): Rejected => ({
  ...rejected(
    'bad_field',
    `the event has the property ${COOKIELESS_MARK}, and the destination drops such events of earlier days; leave the property behind with exclude, or give it another name with rename`,
  ),
  of: { timestamp, event },
});

import { type MappedEvent, toTargetEvent } from '../../contract/event.ts';
import type { FindPlace } from '../../lib/places.ts';
import type { MapRecord, MapSettings, OnNote } from '../source.ts';
import type { IdFrom } from './event-id.ts';

/** The map of each version of a source's mapping, by number from 1. */
export type MapsByVersion<Options> = Readonly<Record<number, CreateMap<Options>>>;

export type CreateMap<Options> = (
  options: Options,
  idFrom: IdFrom,
  onNote: OnNote,
  findPlace?: FindPlace,
  /** For hashing personal data. */
  hashKey?: string,
) => MapRecord<MappedEvent>;

/** Oldest first. */
export const listVersions = (maps: MapsByVersion<never>): number[] =>
  Object.keys(maps)
    .map(Number)
    .toSorted((a, b) => a - b);

export function createVersionedMap<Options>(
  maps: MapsByVersion<Options>,
  options: Options,
  {
    version = listVersions(maps).at(-1),
    idFrom = 'vendor',
    onNote = () => {},
    findPlace,
    hashKey,
  }: MapSettings = {},
): MapRecord<MappedEvent> {
  const createMap = version === undefined ? undefined : maps[version];
  if (!createMap) throw new Error(`there is no version ${version} of this mapping`);
  return createMap(options, idFrom, onNote, findPlace, hashKey);
}

/** The map for whoever looks at events. */
export const toObjectMap =
  (map: MapRecord<MappedEvent>): MapRecord =>
  (record) => {
    const outcome = map(record);
    return outcome.kind === 'mapped' ? { ...outcome, events: outcome.events.map(toTargetEvent) } : outcome;
  };

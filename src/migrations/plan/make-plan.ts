import type { Manifest } from '../../../config/manifest/manifest.ts';
import { toTimeWindow } from '../../../config/manifest/window.ts';
import { toLatest } from '../../deliver/not-stored.ts';
import type { FindPlace } from '../../lib/places.ts';
import { limitToStored } from '../../pipeline/limit-to-stored.ts';
import { bindSource, getSourceType, type SourceTypes } from '../../sources/registry.ts';
import type { MapNote, SourceSlice } from '../../sources/source.ts';
import { createSampleMap } from '../manifest/create-maps.ts';
import { buildPlan } from './build-plan.ts';
import type { Plan } from './plan.ts';
import { readSample } from './read-sample.ts';

export interface MakePlanOptions {
  /** Read of each sampled file. */
  readonly recordsPerFile: number;
  /** Of the file of places that the manifest names. */
  readonly findPlace?: FindPlace | undefined;
  readonly types?: SourceTypes | undefined;
}

/** What a run would do, from the beginnings of the files. */
export async function makePlan(
  manifest: Manifest,
  files: readonly SourceSlice[],
  now: Date,
  { recordsPerFile, findPlace, types }: MakePlanOptions,
): Promise<Plan> {
  const { source, limits } = manifest;
  const bound = bindSource(source, types);
  const notes = new Map<MapNote, number>();
  const onNote = (note: MapNote) => void notes.set(note, (notes.get(note) ?? 0) + 1);
  const map = limitToStored(createSampleMap(manifest, types, { onNote, findPlace }), toLatest(now));
  const sample = await readSample(files, map, recordsPerFile);
  const fields = sample.flatMap(({ records }) =>
    records.flatMap((record) => (record.fields ? [record.fields] : [])),
  );
  return buildPlan({
    migration: manifest.name,
    source: {
      type: source.type,
      timezone: source.timezone,
      geoip: source.geoip,
      knownFields: getSourceType(source.type, types).knownFields(),
      hideHashed: bound.hideHashed,
      listFieldFates: bound.listFieldFates,
    },
    destination: manifest.destination?.url,
    groupIdentifyEvent: manifest.people.groupIdentifyEvent,
    importId: manifest.stamps.importId,
    limits,
    approval: manifest.approval,
    sharedDevices: manifest.people.sharedDevices ?? 'none',
    window: toTimeWindow(manifest),
    files: files.map(({ name, bytes }) => ({ name, bytes })),
    sample,
    notes,
    unmatched: bound.findUnmatched?.(fields) ?? [],
    now,
  });
}

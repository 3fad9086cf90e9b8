import type { z } from 'zod';
import type { MappedEvent, TargetEvent } from '../contract/event.ts';
import type { MapOutcome } from '../contract/outcome.ts';
import type { Slice } from '../contract/slice.ts';
import type { FindPlace } from '../lib/places.ts';
import type { SourceBucket } from './files/s3-file.ts';
import type { RecordChunk } from './formats/read-records.ts';
import type { IdFrom } from './mapping/event-id.ts';
import type { Fields } from './mapping/table.ts';

/** Pure and total: any JSON object yields an outcome, the same one every time (I2, I7). */
export type MapRecord<Event extends MappedEvent = TargetEvent> = (
  record: Readonly<Record<string, unknown>>,
) => MapOutcome<Event>;

/** A map whose events are written without being looked at. */
export interface ImportMap extends MapRecord<MappedEvent> {
  /**
   * The fields that the map reads, where it also takes a view of a record instead of the parsed record. One set for
   * all maps of a source.
   */
  readonly viewFields?: ReadonlySet<string> | undefined;
}

export interface MapSettings {
  /** @default the latest */
  readonly version?: number | undefined;
  /** @default 'vendor' */
  readonly idFrom?: IdFrom | undefined;
  /** Is told what a plan counts beside outcomes. @default nobody is */
  readonly onNote?: OnNote | undefined;
  /** Of the file that the block names under `geoip`. Absent: no place is looked up. */
  readonly findPlace?: FindPlace | undefined;
  /** The key that the source's block names for hashing personal data; a map that needs it is not made without. */
  readonly hashKey?: string | undefined;
}

export type OnNote = (note: MapNote) => void;

/** What a map did to a record that its outcome does not show. */
export type MapNote =
  /** The event has no `$session_id`, because none would fit its time. */
  | 'no_session_id'
  /** The record carries no corrected time, so it was computed from the clocks of client and server. */
  | 'time_computed'
  /** The event says to be later than its arrival, so the clock of its client is wrong. */
  | 'time_after_arrival'
  /** A group call names a type of its own, which events of that group cannot know. */
  | 'own_group_type'
  /** The key of a group is longer than can be sent, so the event is of no such group, or says nothing of it. */
  | 'long_group_key';

/** Whether a field becomes what the destination knows by name, is passed on as it is, or stays behind. */
export type FieldFate = 'mapped' | 'kept' | 'dropped';

/** The fields of a record at every depth, as paths with dots. */
export type ListFieldFates = (record: Fields) => Iterable<readonly [path: string, fate: FieldFate]>;

export interface WithTimezone {
  /** IANA zone of timestamps that carry none. */
  readonly timezone: string;
}

export interface WithGeoip {
  /** Where places come from: see `geoip` in common-options.ts. */
  readonly geoip?: string | undefined;
}

/** A manifest's `source` block as parsed. Beyond these keys, only its own type can read it. */
export interface SourceBlock extends WithTimezone, WithGeoip {
  readonly type: string;
  readonly [option: string]: unknown;
}

/**
 * What a vendor's folder exports: everything that the manifest, the plan, the docs and the benchmark
 * need to know of it. Listed once, in registry.ts.
 */
export interface SourceType {
  /** `source.type` in a manifest. */
  readonly type: string;
  /**
   * Versions of the mapping that this release has, oldest first. A migration pins the latest when it begins
   * and keeps it: a new one is added whenever the same record maps differently.
   */
  readonly versions: readonly number[];
  /** The whole `source` block of this type. Parsing its own output changes nothing. */
  readonly block: BlockSchema;
  /** Names of the record fields that the map reads; `all` when none is left behind. */
  readonly knownFields: () => ReadonlySet<string> | 'all';
  /** Takes a block that `block` has parsed. Throws a ZodError for any other. */
  readonly bind: (block: SourceBlock) => Source;
  /** Whether a record is one of this vendor's, for `init`. Never throws. Absent: no vendor's own. */
  readonly recognize?: (record: Fields) => boolean;
  /** What the support request calls the data: `Amplitude export`. */
  readonly exportName: string;
  readonly docs: SourceDocs;
  /** Path of a manifest to start from, from the root of the repository. */
  readonly example: string;
  /** Absent: the benchmark leaves the source out. */
  readonly sample?: SourceSample;
}

export type BlockSchema = z.ZodType<SourceBlock> & z.core.$ZodTypeDiscriminable;

/** A row of the table of sources in the README. */
export interface SourceDocs {
  /** Forms in which the export may come. */
  readonly reads: string;
  readonly notes: string;
}

/** For the benchmark: the events of the generated Amplitude export, as this source would export them. */
export interface SourceSample {
  readonly format: 'json' | 'csv';
  /** Keys that the `source` block needs for these records. */
  readonly options: object;
  readonly toRecord: (event: Fields) => Fields;
}

/** A source type with the options of one manifest. */
export interface Source {
  /** Throws ConfigError for an unknown zone; the map it returns never throws. */
  readonly createMap: (settings?: MapSettings) => MapRecord;
  /** The same map, with properties in the form that is written fastest. @default createMap */
  readonly createImportMap?: (settings?: MapSettings) => ImportMap;
  /** What the block names and none of these records has, each as a sentence. */
  readonly findUnmatched?: (records: readonly Fields[]) => string[];
  /** For plans, which show records: one without the personal data that the map hashes. Absent: it hashes none. */
  readonly hideHashed?: ((record: Fields) => Fields) | undefined;
  /**
   * Keys of the block, as paths, that this version of the mapping does not heed, because they came with a later one.
   * @default none
   */
  readonly listUnheeded?: ((version: number) => readonly string[]) | undefined;
  /**
   * For a version of the mapping that sends some of what the block keeps back: looks for that in a record, and says
   * where it is. Undefined where the version sends none.
   */
  readonly toFindSent?:
    | ((version: number) => ((record: Fields) => string | undefined) | undefined)
    | undefined;
  /** For plans. @default top-level fields by `knownFields` */
  readonly listFieldFates?: ListFieldFates | undefined;
  /** Whether records can be refused by the header above them, so that headers are worth a look before a start. */
  readonly checksHeaders: boolean;
  /**
   * What there is to move, in the order in which it is to be staged. Throws ConfigError where the block
   * names nothing that exists; a place that is there and holds nothing may be allowed (`allowEmpty`).
   */
  readonly discover: (context: SourceContext) => Promise<Slice[]>;
  /**
   * The records of a slice that was discovered, here or in another process, in order and in flat memory.
   * Reading the same slice again yields the same records, or throws a SourceError because it is gone or
   * has changed. `onBytes` sees what is read, as it is stored: the slice's sha256 is over those bytes.
   */
  readonly open: (slice: Slice, context: SourceContext, onBytes: OnBytes) => AsyncIterable<RecordChunk>;
}

export const createImportMap = (source: Source, settings?: MapSettings): ImportMap =>
  (source.createImportMap ?? source.createMap)(settings);

export type OnBytes = (bytes: Buffer) => void;

/** Where sources look. */
export interface SourceContext {
  /** Relative paths start here: the manifest's folder. */
  readonly baseDir: string;
  /** Opens a bucket of S3. Absent: no access to S3 is set up. */
  readonly openS3?: ((bucket: string) => Promise<SourceBucket>) | undefined;
  /** Whether folders and prefixes that hold nothing are no mistake: what belongs there may come. @default false */
  readonly allowEmpty?: boolean;
  /** Whether an entry that names a file may find nothing: a file of that name was there. @default none may */
  readonly wasThere?: ((name: string) => boolean) | undefined;
  /** Is told, as a sentence, what of a folder is left out. @default nobody is */
  readonly onLeftOut?: ((sentence: string) => void) | undefined;
}

/** A slice that can be read in this process. */
export interface SourceSlice extends Slice {
  readonly readRecords: (onBytes?: OnBytes) => AsyncIterable<RecordChunk>;
}

export const toSourceSlice = (slice: Slice, source: Source, context: SourceContext): SourceSlice => ({
  ...slice,
  readRecords: (onBytes = () => {}) => source.open(slice, context, onBytes),
});

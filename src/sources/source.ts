import type { z } from 'zod';
import type { MapOutcome } from '../contract/outcome.ts';
import type { FindOptions } from './files/find-source-files.ts';
import type { SourceFile } from './files/source-file.ts';
import type { ReadOptions } from './formats/sniff-format.ts';
import type { Fields } from './mapping/table.ts';

/** Pure and total: any JSON object yields an outcome, the same one every time (I2, I7). */
export type MapRecord = (record: Readonly<Record<string, unknown>>) => MapOutcome;

export interface WithTimezone {
  /** IANA zone of timestamps that carry none. */
  readonly timezone: string;
}

/** A manifest's `source` block as parsed. Beyond these two keys, only its own type can read it. */
export interface SourceBlock extends WithTimezone {
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
  /** Version of the mapping, pinned per migration; raised whenever the same record maps differently. */
  readonly version: number;
  /** The whole `source` block of this type. Parsing its own output changes nothing. */
  readonly block: BlockSchema;
  /** Names of the record fields that the map reads; `all` when none is left behind. */
  readonly knownFields: () => ReadonlySet<string> | 'all';
  /** Takes a block that `block` has parsed. Throws a ZodError for any other. */
  readonly bind: (block: SourceBlock) => Source;
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
  readonly createMap: () => MapRecord;
  readonly read: ReadOptions;
  readonly discover: (context: FindOptions) => Promise<SourceFile[]>;
}

import { z } from 'zod';
import type { RejectReason } from './outcome.ts';
import { recordFormat } from './part.ts';

const count = z.number().int().nonnegative();

/** Every record read has exactly one outcome: read = delivered + skipped + duplicate + rejected. */
export const recordCounts = z.strictObject({
  read: count,
  delivered: count,
  skipped: count,
  duplicate: count,
  rejected: count,
});
export type RecordCounts = z.infer<typeof recordCounts>;

/** `accepted` counts events of requests with a 2xx response. */
export const eventCounts = z.strictObject({ sent: count, accepted: count });

/** Counts with their breakdown. Keys of `byDay` are UTC days of the source time, or `unknown`. */
export const tally = z.strictObject({
  counts: recordCounts,
  events: eventCounts,
  byDay: z.record(z.string(), recordCounts),
  byEvent: z.record(z.string(), recordCounts),
  /** Snake-case reason of skipped, duplicate and rejected records. */
  byReason: z.record(z.string(), count),
});
export type Tally = z.infer<typeof tally>;

/** Counts of a part of several files by the names of these. */
export const byFile = z.record(z.string(), recordCounts);
export type ByFile = z.infer<typeof byFile>;

/** An object of rejected records: its staging key, its size and digest, and the number of records in it. */
export interface RejectSegment {
  readonly key: string;
  readonly bytes?: number | undefined;
  readonly records?: number | undefined;
  /** Of its stored bytes, in hex. */
  readonly sha256?: string | undefined;
}

export const rejectSegment = z.union([
  z.strictObject({ key: z.string(), bytes: count, records: count, sha256: z.string().optional() }),
  z.string().transform((key): RejectSegment => ({ key })), // as version 0.1.0 wrote it
]);

/**
 * The record index up to which every record of a part has its outcome. Position, tally and reject segments are one
 * record, saved whole or not at all (invariant I1).
 */
export const checkpoint = z.strictObject({
  part: z.string(),
  /** `sha256` of the part, as what it says of other records is wrong. Absent in what earlier versions wrote. */
  partSha256: z.string().optional(),
  /** Number of records, from the start of the part, that have their outcome. */
  position: count,
  tally,
  /** Of a part of several files. */
  byFile: byFile.optional(),
  /** In order. */
  rejectSegments: z.array(rejectSegment),
});
export type Checkpoint = z.infer<typeof checkpoint>;

/** The bytes that hold one bucket of an object of identity facts. */
export const factsSection = z.strictObject({
  bucket: count,
  offset: count,
  length: count,
  /** Of text; a gzip member has its own. */
  crc32: count.optional(),
});
export type FactsSection = z.infer<typeof factsSection>;

export const factsIndex = z.strictObject({
  key: z.string(),
  sections: z.array(factsSection),
  /** Sections are text; else gzip members. */
  plain: z.literal(true).optional(),
});
export type FactsIndex = z.infer<typeof factsIndex>;

/** Rows of one UTC day in an object of fingerprints; of many, also the rows of each bucket. */
export const fingerprintSection = z.strictObject({
  day: z.string(),
  rows: count,
  buckets: z.array(count).optional(),
});
export type FingerprintSection = z.infer<typeof fingerprintSection>;

export const fingerprintIndex = z.strictObject({
  key: z.string(),
  sections: z.array(fingerprintSection),
  /** How many rows are of single events of records that are several. Absent: none. */
  eventRows: count.optional(),
  /** Of its bytes, in hex. */
  sha256: z.string().optional(),
});
export type FingerprintIndex = z.infer<typeof fingerprintIndex>;

/** The final counts of one part. Created once, never replaced (invariant I5). */
export const receipt = z.strictObject({
  part: z.string(),
  /** Id of the migration: an earlier one may have had its name. Absent in receipts of earlier versions. */
  migration: z.string().exactOptional(),
  file: z.string(),
  mapping: z.string(),
  tally,
  /** Of a part of several files. */
  byFile: byFile.optional(),
  rejectSegments: z.array(rejectSegment),
  findings: factsIndex.optional(),
  /** Of every record that was delivered, and of its events where they are several. Absent where none was, and in parts that version 0.1.0 imported. */
  fingerprints: fingerprintIndex.optional(),
});
export type Receipt = z.infer<typeof receipt>;

/** Bytes as text; in `base64` where they are not UTF-8. */
const keptBytes = z.strictObject({ text: z.string().optional(), base64: z.string().optional() });

/**
 * First line of a reject segment of a CSV: the header row of all its records, stored once because it may be
 * larger than many records together.
 */
export const rejectHead = z.strictObject({ header: keptBytes });
export type RejectHead = z.infer<typeof rejectHead>;

/** A reject: everything needed to read, understand and replay the record. A line of a segment, without `header`. */
export const rejectLine = z.strictObject({
  file: z.string(),
  member: z.string().optional(),
  line: count,
  part: z.string(),
  /** Number of the record in its part, from 0. */
  record: count,
  reason: z.string(),
  detail: z.string(),
  format: recordFormat,
  /** The header row of a CSV, from the head of the segment. */
  header: keptBytes.optional(),
  /**
   * Not rejected: of the records that share an id, the one that counts as delivered. The destination may have
   * kept another, so a replay sends all of them. Or counted already: it was refused in part, and what was accepted
   * of it shares an id.
   */
  stays: z.literal(true).optional(),
  /** Of the part: see there. */
  idFrom: z.literal('record').optional(),
  /** Of a record of several events: keys of those that the destination has accepted. A replay sends the others. */
  accepted: z.array(z.string()).exactOptional(),
  /** And keys of those that share an id: a replay sends no others. */
  sends: z.array(z.string()).exactOptional(),
  /** Of `sends`, those that count as delivered. */
  staying: z.array(z.string()).exactOptional(),
  /** Set when only the record's head was kept. */
  oversize: z.strictObject({ bytes: count, sha256: z.string() }).optional(),
  ...keptBytes.shape,
});
export type RejectLine = z.infer<typeof rejectLine>;

/** Why one record of a part was rejected; `record` counts from 0. */
export interface RejectNote {
  readonly record: number;
  readonly reason: RejectReason;
  readonly detail: string;
  readonly stays?: true;
  readonly accepted?: readonly string[];
  readonly sends?: readonly string[];
  readonly staying?: readonly string[];
}

import { z } from 'zod';
import { eventCounts, recordCounts } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { personsTally } from '../../identity/persons-tally.ts';
import { sentRange } from '../../identity/sent-range.ts';
import { SourceError } from '../../lib/errors.ts';
import { loadDocument } from '../../state/document.ts';
import { isEpochOver } from '../../state/epochs.ts';
import { layout } from '../../state/keys/migration.ts';
import { identify } from '../../state/migrations.ts';
import { findNewestOwn } from '../../state/numbered.ts';
import { loadPersons, type SentPersons } from '../persons/load-persons.ts';

const count = z.number().int().nonnegative();

const fileReport = z.strictObject({
  file: z.string(),
  /** Parts with a receipt. */
  parts: count,
  counts: recordCounts,
});

/** The receipts of a migration added up. Holds no secret (I10). */
export const report = z.strictObject({
  migration: z.string(),
  /** Of a replay: the migration whose name its events carry; of a replay of a replay, the first of all. */
  replayOf: z.string().optional(),
  /** Source type and version of its map. */
  mapping: z.string(),
  /** Address of the destination, without credentials; `bundled API` for the project's own. */
  destination: z.string(),
  startedAt: z.string().optional(),
  /** Properties by which its events are found at the destination. Absent where they carry none. */
  stamps: z.record(z.string(), z.string()).optional(),
  /** Records. */
  counts: recordCounts,
  events: z.strictObject({
    /** Events of records: sent, and of those accepted in requests answered 2xx. */
    ...eventCounts.shape,
    /**
     * Accepted ones without repeats of others: the number to compare with the destination's. Absent until
     * repeats over all parts are counted, and where version 0.1.0 imported some of them.
     */
    distinct: count.optional(),
    /** Some are of records that are several events: days and names of records are not those of events. */
    several: z.literal(true).exactOptional(),
    /** Accepted events that stem from no single record: merges, persons, groups. */
    synthetic: count,
  }),
  /** Whether repeats over all parts are counted, and how many parts of version 0.1.0 could not be looked at. */
  repeats: z.strictObject({ counted: z.boolean(), partsWithout: count }).optional(),
  /** Whether every record read has exactly one outcome, in every breakdown. */
  balanced: z.boolean(),
  /** What does not balance, in sentences; empty when all does. */
  problems: z.array(z.string()),
  /** Rejected records per record read, 0 to 1. */
  rejectedShare: z.number(),
  byFile: z.array(fileReport),
  byDay: z.record(z.string(), recordCounts),
  byEvent: z.record(z.string(), recordCounts),
  byReason: z.record(z.string(), count),
  people: z.strictObject({
    ...personsTally.shape,
    /** Synthetic events, counted apart from the events of records. */
    events: eventCounts,
    /** Synthetic events that will never arrive as they are. */
    refusedCount: count,
    /** The first few of them. */
    refused: sentRange.shape.refused,
    /** The manifest holds persons back, or too many records were rejected: nothing about them was sent. */
    held: z.boolean().optional(),
    /** Migrations that sent what this one held, with commas between. */
    releasedBy: z.string().optional(),
    /** What said what was sent about persons in earlier turns, and is gone: that is not counted here. */
    lost: z.array(z.string()).optional(),
  }),
  /** What has no receipt yet; all zero and empty once the migration is finished. */
  unfinished: z.strictObject({
    parts: count,
    /** Their ids, the first few. */
    partSample: z.array(z.string()),
    /** Files that are not staged to their end. */
    files: z.array(z.string()),
    /** What failed for good, and why. */
    failures: z.array(z.strictObject({ what: z.string(), reason: z.string() })),
    /** Whether persons and groups are still to be folded, which happens once all events are in. */
    people: z.boolean(),
  }),
});
export type Report = z.infer<typeof report>;

/**
 * The report of the last run: there from the end of a run until the next one begins. That of a producer that slept
 * while another one began is not the last. Persons that were held then, and that another migration has sent since, are
 * not held.
 */
export async function loadStoredReport(staging: Staging, name: string): Promise<Report | undefined> {
  const key = await findReportKey(staging, name);
  const stored = key === undefined ? undefined : await loadDocument(report, key, staging);
  if (!stored?.people.held) return stored;
  try {
    return withRelease(stored, await loadPersons(staging, name));
  } catch (error) {
    if (error instanceof SourceError) return stored; // what is damaged is told of by those who need it
    throw error;
  }
}

function withRelease(stored: Report, { isHeld, releasedBy }: SentPersons): Report {
  if (isHeld || releasedBy === undefined) return stored;
  // Unique users are counted by whoever sends them.
  const { held: _, uniques: __, ...people } = stored.people;
  return { ...stored, people: { ...people, releasedBy } };
}

/** Undefined where the latest epoch has none; an epoch that left nothing but a report was removed since. */
export async function findReportKey(staging: Staging, name: string): Promise<string | undefined> {
  const keys = layout(name);
  const newest = await findNewestOwn(staging, keys.reports, (await identify(staging, name)).id);
  if (!newest) return keys.oldReport;
  return (await isEpochOver(staging, name, newest.number)) ? undefined : newest.key;
}

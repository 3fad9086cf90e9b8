import { isBalanced } from '../../contract/counts.ts';
import type { FileReceipt, PartMeta } from '../../contract/part.ts';
import { emptyPersonsTally } from '../../identity/persons-tally.ts';
import { countRefused } from '../../identity/sent-range.ts';
import { findImbalances } from '../../pipeline/tally.ts';
import { parseSliceId } from '../../state/keys/parts.ts';
import { countRepeatedEvents, type Repeats } from '../../state/repeats.ts';
import type { SentPersons } from '../persons/load-persons.ts';
import { applyRepeats, applyRepeatsToFiles } from './apply-repeats.ts';
import type { ReceiptTotals } from './receipt-totals.ts';
import type { Report } from './report.ts';

export interface ReportInput {
  readonly migration: string;
  /** Of a replay: the migration whose name its events carry. */
  readonly replayOf?: string | undefined;
  readonly mapping: string;
  /** Address of the destination, or `bundled API`. */
  readonly destination: string;
  readonly startedAt?: string;
  /** What every event carries. */
  readonly stamps?: Readonly<Record<string, string>> | undefined;
  readonly totals: ReceiptTotals;
  /** Every part staged so far. */
  readonly parts: Iterable<Pick<PartMeta, 'id' | 'records'>>;
  /** Slices that are staged: files, and groups of small files. */
  readonly stagedFiles: Iterable<Pick<FileReceipt, 'fileId' | 'file' | 'parts' | 'records' | 'files'>>;
  /** Files that are not, by name. */
  readonly unstagedFiles: readonly string[];
  /** Absent until repeats over all parts are counted. */
  readonly repeats?: Repeats;
  /** Parts whose repeats in other parts cannot be counted: version 0.1.0 imported them. */
  readonly partsWithoutFingerprints: number;
  /** Absent until every event is in and persons are sent, or held. */
  readonly persons?: SentPersons;
  readonly failures: readonly { readonly what: string; readonly reason: string }[];
  /** Objects that receipts name and that are gone or damaged, as sentences. */
  readonly lostObjects: readonly string[];
  /**
   * A run has come to its end: what is unfinished then, and not among the failures, is a problem.
   * @default false
   */
  readonly isOver?: boolean;
}

/** Made once: there may be tens of thousands of files. */
const inOrder = new Intl.Collator('en', { numeric: true });

const RESTORE = 'restore the folder parts/ of the migration from a backup';
const SAMPLE = 10;
const PROBLEMS_SHOWN = 50;

/** Adds the receipts up, and compares the counts with one another and with what was staged. */
export function buildReport(input: ReportInput): Report {
  const { totals, persons, repeats, partsWithoutFingerprints } = input;
  const people = persons?.sent;
  const tally = repeats ? applyRepeats(totals.tally, repeats) : totals.tally;
  const byFile = repeats ? applyRepeatsToFiles(totals.byFile, repeats) : totals.byFile;
  const missing: string[] = [];
  const problems = findImbalances(tally);

  const described = new Set<string>();
  for (const { id, records } of input.parts) {
    described.add(id);
    const read = totals.getRead(id);
    if (read === undefined) missing.push(id);
    else if (read !== records)
      problems.push(`part ${id} holds ${records} records, its receipt counts ${read}`);
  }
  const advise = createAdvice(input, described);
  for (const { id } of totals.parts())
    if (!described.has(id))
      problems.push(`part ${id} has a receipt, and its description is gone; ${advise(parseSliceId(id))}`);
  problems.push(...fileProblems(input, missing, advise), ...input.lostObjects);
  if (input.isOver && input.failures.length === 0) problems.push(...unfinishedProblems(input, missing));
  if (totals.mappings.size > 1) {
    const mappings = [...totals.mappings].sort().join(', ');
    problems.push(`the receipts come from several mappings (${mappings}), a migration has one`);
  }
  if (tally.events.accepted > tally.events.sent) problems.push('more events were accepted than sent');

  return {
    migration: input.migration,
    ...(input.replayOf === undefined ? {} : { replayOf: input.replayOf }),
    mapping: input.mapping,
    destination: withoutCredentials(input.destination),
    ...(input.startedAt === undefined ? {} : { startedAt: input.startedAt }),
    ...(input.stamps ? { stamps: { ...input.stamps } } : {}),
    counts: tally.counts,
    events: {
      ...tally.events,
      ...(repeats && partsWithoutFingerprints === 0
        ? { distinct: tally.events.accepted - countRepeatedEvents(repeats) }
        : {}),
      ...(totals.hasSeveral ? { several: true } : {}),
      synthetic: people?.events.accepted ?? 0,
    },
    repeats: { counted: repeats !== undefined, partsWithout: partsWithoutFingerprints },
    balanced: problems.length === 0,
    problems:
      problems.length > PROBLEMS_SHOWN
        ? [...problems.slice(0, PROBLEMS_SHOWN), `… and ${problems.length - PROBLEMS_SHOWN} more`]
        : problems,
    rejectedShare: tally.counts.read === 0 ? 0 : tally.counts.rejected / tally.counts.read,
    byFile: [...byFile]
      .map(([file, { parts, counts }]) => ({ file, parts, counts }))
      .sort((a, b) => inOrder.compare(a.file, b.file)),
    byDay: tally.byDay,
    byEvent: tally.byEvent,
    byReason: tally.byReason,
    people: {
      ...(people?.people ?? emptyPersonsTally()),
      events: people?.events ?? { sent: 0, accepted: 0 },
      refusedCount: people ? countRefused(people) : 0,
      refused: (people?.refused ?? []).slice(0, SAMPLE),
      ...(persons?.isHeld ? { held: true } : {}),
      ...(persons?.releasedBy === undefined ? {} : { releasedBy: persons.releasedBy }),
      ...(persons && persons.lost.length > 0 ? { lost: [...persons.lost] } : {}),
    },
    unfinished: {
      parts: missing.length,
      partSample: missing.slice(0, SAMPLE),
      files: [...input.unstagedFiles],
      failures: input.failures.map(({ what, reason }) => ({ what, reason })),
      people: people === undefined,
    },
  };
}

/**
 * What to do about lost descriptions of a slice. One that is lost ends where the next one begins; where each of
 * several of a group of files ended, only a backup knows.
 */
function createAdvice(
  { stagedFiles }: ReportInput,
  described: ReadonlySet<string>,
): (slice: string) => string {
  const left = new Map<string, number>();
  const groups = new Set<string>();
  for (const { fileId, parts, files } of stagedFiles) {
    left.set(fileId, parts);
    if (files) groups.add(fileId);
  }
  for (const id of described) {
    const slice = parseSliceId(id);
    left.set(slice, (left.get(slice) ?? 0) - 1);
  }
  return (slice) =>
    left.get(slice) === 1 || !groups.has(slice)
      ? `resume with the source in its place, and it is staged again; without the source, ${RESTORE}`
      : RESTORE;
}

function unfinishedProblems({ unstagedFiles }: ReportInput, missing: readonly string[]): string[] {
  return [
    ...missing.map((id) => `part ${id} was not imported to its end, and no job reported why`),
    ...unstagedFiles.map((file) => `${file} was not staged to its end, and no job reported why`),
  ];
}

/**
 * A slice that is staged has all of its parts, each with a receipt or waiting for one, and once all have
 * theirs, all records of its files accounted for.
 */
function fileProblems(
  { totals, stagedFiles }: ReportInput,
  waiting: readonly string[],
  advise: (slice: string) => string,
): string[] {
  const problems: string[] = [];
  const waitingBySlice = new Map<string, number>();
  for (const part of waiting) {
    const slice = parseSliceId(part);
    waitingBySlice.set(slice, (waitingBySlice.get(slice) ?? 0) + 1);
  }
  const recordsOf = new Map<string, number>();
  for (const { file, records } of [...stagedFiles].flatMap(listNamedFiles))
    recordsOf.set(file, (recordsOf.get(file) ?? 0) + records);
  for (const slice of stagedFiles) {
    const { fileId, file, parts } = slice;
    const receipts = totals.bySlice.get(fileId)?.parts ?? 0;
    const known = receipts + (waitingBySlice.get(fileId) ?? 0);
    if (receipts > parts) {
      problems.push(`${file} has ${parts} parts, and ${receipts} receipts`);
    } else if (known < parts) {
      problems.push(
        `${file} has ${parts} parts, and ${parts - known} of them are lost: neither described nor imported; ${advise(fileId)}`,
      );
    } else if (receipts > 0 && receipts === parts) {
      problems.push(...listWrongCounts(slice, recordsOf, totals));
    }
  }
  for (const [file, { counts }] of totals.byFile) {
    if (!isBalanced(counts))
      problems.push(`${file}: outcomes do not add up to the ${counts.read} records read`);
  }
  return problems;
}

type CountedSlice = Pick<FileReceipt, 'file' | 'records' | 'files'>;

const listNamedFiles = (slice: CountedSlice): readonly Pick<FileReceipt, 'file' | 'records'>[] =>
  slice.files ?? [slice];

/**
 * Files of a slice whose receipts count other records than were staged. `recordsOf`: by file, of all slices: an earlier
 * version may have staged a file in two, and the second time all of its records are repeats.
 */
function listWrongCounts(
  slice: CountedSlice,
  recordsOf: ReadonlyMap<string, number>,
  totals: ReceiptTotals,
): string[] {
  return listNamedFiles(slice).flatMap(({ file }) => {
    const records = recordsOf.get(file);
    const read = totals.byFile.get(file)?.counts.read ?? 0;
    return read === records ? [] : [`${file} holds ${records} records, its receipts count ${read}`];
  });
}

/** User, password, query and fragment of an address may hold secrets (I10). */
function withoutCredentials(destination: string): string {
  if (!URL.canParse(destination)) return destination;
  const { origin, pathname } = new URL(destination);
  return origin === 'null' ? destination : `${origin}${pathname === '/' ? '' : pathname}`;
}

import { loadControl } from '../state/control.ts';
import { RefusedError, requireMigration } from './life-store.ts';
import type { MigrationStore } from './migration-runtime.ts';
import { buildReport } from './report/build-report.ts';
import { type Books, loadBooks } from './report/load-books.ts';
import { loadStoredReport, type Report } from './report/report.ts';

/**
 * The report of the last run, or while one is under way, one of what is there so far. Either is compared
 * with what staging holds now. Throws RefusedError, and SourceError for documents that are damaged.
 */
export async function loadReport({ staging }: MigrationStore, name: string): Promise<Report> {
  const record = await requireMigration(staging, name);
  const stored = await loadStoredReport(staging, name);
  if ((await loadControl(staging, name))?.state === 'removed') {
    if (stored) return stored;
    throw new RefusedError('removed', `migration "${name}" was removed before it had a report`);
  }
  const books = await loadBooks(staging, record);
  if (!stored || wasCutOff(stored, books)) return buildReport({ ...books, failures: [] });
  const { failures } = stored.unfinished;
  return addProblems(stored, buildReport({ ...books, failures, isOver: true }));
}

/** Whether a top-up took files in and ended before its run began: the last report knows none of them. */
function wasCutOff({ byFile, unfinished }: Report, { unstagedFiles }: Books): boolean {
  const known = new Set([...byFile.map(({ file }) => file), ...unfinished.files]);
  return unstagedFiles.length > 0 && unstagedFiles.every((file) => !known.has(file));
}

/** The stored report, with what was lost or changed since. */
function addProblems(stored: Report, now: Report): Report {
  const problems = new Set([...stored.problems, ...now.problems]);
  if (stored.counts.read !== now.counts.read) {
    problems.add(`the report counts ${stored.counts.read} records, its receipts ${now.counts.read}`);
  }
  // Absent in what an earlier version stored.
  const events = now.events.several ? { ...stored.events, several: true as const } : stored.events;
  return { ...stored, events, problems: [...problems], balanced: problems.size === 0 };
}

/** Whether everything has its outcome and is sent. */
export const isFinished = ({ unfinished }: Report): boolean =>
  unfinished.parts === 0 &&
  unfinished.files.length === 0 &&
  unfinished.failures.length === 0 &&
  !unfinished.people;

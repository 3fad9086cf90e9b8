import { parseDocument } from '../state/document.ts';
import { layout } from '../state/keys.ts';
import { requireMigration } from './life-store.ts';
import type { MigrationStore } from './migration-runtime.ts';
import { makeReport } from './report/make-report.ts';
import { type Report, report } from './report/report.ts';

/** The report of the last run, or while one is under way, one of what is there so far. Throws RefusedError. */
export async function loadReport({ staging }: MigrationStore, name: string): Promise<Report> {
  const record = await requireMigration(staging, name);
  const key = layout(name).report;
  const body = await staging.get(key); // there from the end of a run until the next one begins
  return body
    ? parseDocument(report, body, key, staging)
    : makeReport(staging, record, { failures: [], peopleDone: false });
}

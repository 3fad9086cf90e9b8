import { layout } from '../../migration/layout.ts';
import { loadMigration, parseStored } from '../../migration/migration.ts';
import { renderReport } from '../../report/render-report.ts';
import { report as reportSchema } from '../../report/report.ts';
import { makeReport } from '../../run/make-report.ts';
import { openStaging } from '../../wire-staging.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { noSuchMigration } from '../no-such-migration.ts';

/** `backhaul report <name>`: the final report, or one of what is there so far. */
export async function report({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const staging = await openStaging(settings);
  const record = await loadMigration(staging, name);
  if (!record) throw await noSuchMigration(staging, name);
  const key = layout(name).report;
  const body = await staging.get(key); // there from the end of a run until the next one begins
  const document = body
    ? parseStored(reportSchema, body, key, staging)
    : await makeReport(staging, record, { failures: [], peopleDone: false });
  terminal.data(document, () => renderReport(document));
  return document.balanced ? EXIT.done : EXIT.failed;
}

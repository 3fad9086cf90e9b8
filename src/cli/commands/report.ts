import { layout } from '../../migration/layout.ts';
import { loadControl, loadMigration, parseStored } from '../../migration/migration.ts';
import { renderReport } from '../../report/render-report.ts';
import { report as reportSchema } from '../../report/report.ts';
import { makeReport } from '../../run/make-report.ts';
import { openStaging } from '../../wire.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { noSuchMigration } from '../no-such-migration.ts';

/** `backhaul report <name>`: the final report, or one of what is there so far. */
export async function report({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const staging = openStaging(settings);
  const record = await loadMigration(staging, name);
  if (!record) throw await noSuchMigration(staging, name);
  const key = layout(name).report;
  // The report of a run that failed stays until the next one ends: until then the receipts know more.
  const finished = (await loadControl(staging, name))?.state === 'finished';
  const body = finished ? await staging.get(key) : undefined;
  const document = body
    ? parseStored(reportSchema, body, key, staging)
    : await makeReport(staging, record, { failures: [], peopleDone: false });
  terminal.data(document, () => renderReport(document));
  return document.balanced ? EXIT.done : EXIT.failed;
}

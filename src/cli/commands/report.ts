import { requireMigration } from '../../migrations/life-store.ts';
import { makeReport } from '../../migrations/report/make-report.ts';
import { report as reportSchema } from '../../migrations/report/report.ts';
import { openStaging } from '../../runtime/open-staging.ts';
import { layout } from '../../state/keys.ts';
import { parseStored } from '../../state/migrations.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderReport } from '../render/render-report.ts';

/** `backhaul report <name>`: the final report, or one of what is there so far. */
export async function report({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const staging = await openStaging(settings);
  const record = await requireMigration(staging, name);
  const key = layout(name).report;
  const body = await staging.get(key); // there from the end of a run until the next one begins
  const document = body
    ? parseStored(reportSchema, body, key, staging)
    : await makeReport(staging, record, { failures: [], peopleDone: false });
  terminal.data(document, () => renderReport(document));
  return document.balanced ? EXIT.done : EXIT.failed;
}

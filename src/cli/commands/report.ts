import { ConfigError } from '../../errors.ts';
import { layout } from '../../migration/layout.ts';
import { listMigrations, loadMigration, parseStored } from '../../migration/migration.ts';
import { renderReport } from '../../report/render-report.ts';
import { report as reportSchema } from '../../report/report.ts';
import { makeReport } from '../../run/make-report.ts';
import { openStaging } from '../../wire.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** `backhaul report <name>`: the final report, or one of what is there so far. */
export async function report({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const staging = openStaging(settings);
  const record = await loadMigration(staging, name);
  if (!record) {
    const names = await listMigrations(staging);
    throw new ConfigError(
      `there is no migration "${name}" in ${staging.location}; there ${names.length > 0 ? `are: ${names.join(', ')}` : 'are none yet'}`,
    );
  }
  const key = layout(name).report;
  const body = await staging.get(key);
  const document = body
    ? parseStored(reportSchema, body, key, staging)
    : await makeReport(staging, record, { failures: [], peopleDone: false });
  terminal.data(document, () => renderReport(document));
  return document.balanced ? EXIT.done : EXIT.failed;
}

import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { CommandContext } from '../../cli/context.ts';
import { renderReport } from '../../cli/render/render-report.ts';
import { number } from '../../cli/render/render-status.ts';
import { stopSignal } from '../../cli/stop-signal.ts';
import { DEFAULT_BATCH_LIMITS } from '../../deliver/batch-builder.ts';
import { openStaging } from '../../runtime/open-staging.ts';
import type { SourceFile } from '../../sources/files/source-file.ts';
import { bindSource, getMappingName } from '../../sources/registry.ts';
import { clearStaging } from '../../state/clear-staging.ts';
import { toPlanPrefix } from '../../state/keys.ts';
import { buildReport } from '../report/build-report.ts';
import type { Report } from '../report/report.ts';
import { fullPass } from './full-pass.ts';

/** The report that a run would end with, were every event accepted. */
export async function planFull(
  { settings, terminal }: CommandContext,
  manifest: Manifest,
  files: readonly SourceFile[],
): Promise<{ report: Report; text: string }> {
  const source = bindSource(manifest.source);
  const staging = await openStaging(settings);
  // Apart from the migration's own folder: by the time of a run, files and manifest may have changed.
  const scratch = toPlanPrefix(manifest.name);
  const stop = stopSignal(
    terminal,
    'Stopped before the plan was complete. Nothing was sent, and nothing stays in staging; "backhaul plan --full" starts it again.',
  );
  try {
    await clearStaging(staging, scratch); // an earlier one may have been killed
    const { totals, people, syntheticEvents } = await fullPass({
      staging,
      scratch,
      files,
      read: source.read,
      map: source.createMap(),
      batch: { ...manifest.limits.batch, eventBytes: DEFAULT_BATCH_LIMITS.eventBytes },
      overwritePeople: manifest.people.overwrite,
      groupIdentifyEvent: manifest.people.groupIdentifyEvent,
      signal: stop.signal,
      onProgress: (read) => terminal.status(`plan --full  ${number(read)} records read, nothing sent`),
    });
    terminal.endStatus();
    const report = buildReport({
      migration: manifest.name,
      mapping: getMappingName(manifest.source.type),
      destination: 'none: nothing was sent',
      totals,
      parts: [],
      stagedFiles: [],
      unstagedFiles: [],
      people: { people, events: { sent: syntheticEvents, accepted: syntheticEvents }, refused: [] },
      failures: [],
    });
    return { report, text: `What a run would report, were every event accepted:\n\n${renderReport(report)}` };
  } finally {
    await clearStaging(staging, scratch);
    stop.dispose();
  }
}

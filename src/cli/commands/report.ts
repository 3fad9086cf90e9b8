import { isFinished, loadReport } from '../../migrations/report.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderReport } from '../render/render-report.ts';
import { openStoreOf } from '../storage.ts';

/** `backhaul report <name>`: the final report, or one of what is there so far. Exit 0 only for a finished migration. */
export async function report({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const loaded = await loadReport(await openStoreOf({ settings, terminal }), name);
  terminal.data(loaded, () => renderReport(loaded));
  if (!loaded.balanced || loaded.unfinished.failures.length > 0) return EXIT.failed;
  return isFinished(loaded) ? EXIT.done : EXIT.stoppedResumable;
}

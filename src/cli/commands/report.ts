import { loadReport } from '../../migrations/report.ts';
import { openStore } from '../../runtime/open-store.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderReport } from '../render/render-report.ts';

/** `backhaul report <name>`: the final report, or one of what is there so far. */
export async function report({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const loaded = await loadReport(await openStore(settings), name);
  terminal.data(loaded, () => renderReport(loaded));
  return loaded.balanced ? EXIT.done : EXIT.failed;
}

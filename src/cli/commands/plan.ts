import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { ConfigError } from '../../lib/errors.ts';
import { planMigration } from '../../migrations/plan.ts';
import { createPlanContext } from '../../runtime/open-store.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { renderPlan } from '../render/render-plan.ts';
import { renderReport } from '../render/render-report.ts';
import { number } from '../render/render-status.ts';
import { createStopSignal } from '../stop-signal.ts';

/** `backhaul plan`: what a run would do; sends nothing. Exit 4 when the run would be refused. */
export async function plan(
  context: CommandContext,
  path: string,
  options: { full?: boolean; sample: string },
): Promise<ExitCode> {
  const { settings, terminal } = context;
  const recordsPerFile = Number(options.sample);
  if (!Number.isInteger(recordsPerFile) || recordsPerFile < 1) {
    throw new ConfigError(`--sample takes a whole number above 0, not "${options.sample}"`);
  }
  const loaded = await loadManifest(path, { env: context.env });
  const stop = createStopSignal(terminal);
  const full = {
    env: context.env,
    signal: stop.signal,
    onBegin: () => stop.listen(STOPPED),
    onProgress: (read: number) => terminal.status(`plan --full  ${number(read)} records read, nothing sent`),
  };
  try {
    const result = await planMigration(createPlanContext(settings), loaded, {
      recordsPerFile,
      full: options.full ? full : undefined,
    });
    if (result.kind === 'stopped') throw new StoppedError(result.reason);
    terminal.endStatus();
    const { plan: planned, full: report, refusal } = result;
    const pass = report && {
      report,
      text: `What a run would report, were every event accepted:\n\n${renderReport(report)}`,
    };
    terminal.data(
      { ...planned, ...(pass ? { full: pass } : {}), ...(refusal === undefined ? {} : { refused: refusal }) },
      () => [renderPlan(planned), ...(pass ? [pass.text] : [])].join('\n\n'),
    );
    if (refusal === undefined) return EXIT.done;
    terminal.info(refusal);
    return EXIT.preflightRefused;
  } finally {
    stop.dispose();
  }
}

const STOPPED =
  'Stopped before the plan was complete. Nothing was sent, and nothing stays in staging; "backhaul plan --full" starts it again.';

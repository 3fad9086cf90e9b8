import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { ConfigError } from '../../lib/errors.ts';
import { planMigration } from '../../migrations/plan.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import type { PlanPage } from '../render/plan-page/render-plan-page.ts';
import { renderPlan } from '../render/render-plan.ts';
import { renderReport } from '../render/render-report.ts';
import { number } from '../render/render-status.ts';
import { createStopSignal } from '../stop-signal.ts';
import { createPlanContextOf } from '../storage.ts';
import { parsePagePath, writePage } from '../write-page.ts';

/** `backhaul plan`: what a run would do; sends nothing. Exit 3 for too many rejects, 4 when the run would be refused. */
export async function plan(
  context: CommandContext,
  path: string,
  options: { full?: boolean; sample: string; html?: string },
): Promise<ExitCode> {
  const { terminal } = context;
  const recordsPerFile = Number(options.sample);
  if (!Number.isInteger(recordsPerFile) || recordsPerFile < 1) {
    throw new ConfigError(`--sample takes a whole number above 0, not "${options.sample}"`);
  }
  const pagePath = parsePagePath(options.html, 'plan.html');
  const loaded = await loadManifest(path, { env: context.env, needsKey: false });
  const stop = createStopSignal(terminal);
  const full = {
    env: context.env,
    signal: stop.signal,
    onBegin: () => stop.listen(STOPPED),
    onProgress: (read: number) =>
      terminal.status(() => `plan --full  ${number(read)} records read, nothing sent`),
  };
  try {
    const result = await planMigration(createPlanContextOf(context), loaded, {
      recordsPerFile,
      full: options.full ? full : undefined,
    });
    if (result.kind === 'stopped') throw new StoppedError(result.reason);
    terminal.endStatus();
    const { plan: planned, full: report, rejects, refusal } = result;
    const problems = [rejects, refusal].filter((text) => text !== undefined);
    const pass = report && {
      report,
      text: `What a run would report, were every event accepted:\n\n${renderReport(report)}`,
    };
    terminal.data(
      {
        ...planned,
        ...(pass ? { full: pass } : {}),
        ...(rejects === undefined ? {} : { tooManyRejects: rejects }),
        ...(refusal === undefined ? {} : { refused: refusal }),
      },
      () => [renderPlan(planned), ...(pass ? [pass.text] : [])].join('\n\n'),
    );
    if (pagePath !== undefined) {
      const page = { plan: planned, full: report, problems, madeAt: new Date() };
      await writePage(pagePath, 'the plan', await renderPage(page));
      terminal.info(
        `The plan is in ${pagePath}, a page without scripts. It shows values of sampled records.`,
      );
    }
    for (const problem of problems) terminal.info(problem);
    if (rejects !== undefined) return EXIT.rejectsAboveThreshold;
    return refusal === undefined ? EXIT.done : EXIT.preflightRefused;
  } finally {
    stop.dispose();
  }
}

async function renderPage(page: PlanPage): Promise<string> {
  const { renderPlanPage } = await import('../render/plan-page/render-plan-page.ts');
  return renderPlanPage(page);
}

const STOPPED =
  'Stopped before the plan was complete. Nothing was sent, and nothing stays in staging; "backhaul plan --full" starts it again.';

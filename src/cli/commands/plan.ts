import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { ConfigError, getMessage, PreflightError } from '../../lib/errors.ts';
import { checkHeaders } from '../../migrations/plan/check-headers.ts';
import { checkLimits } from '../../migrations/plan/check-limits.ts';
import { planFull } from '../../migrations/plan/plan-full.ts';
import { makePlan } from '../../migrations/preflight.ts';
import { findFiles, getReadOptions } from '../../migrations/prepare.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { renderPlan } from '../render/render-plan.ts';

/** `backhaul plan`: what a run would do; sends nothing. Exit 4 when the run would be refused. */
export async function plan(
  context: CommandContext,
  path: string,
  options: { full?: boolean; sample: string },
): Promise<ExitCode> {
  const { settings, terminal } = context;
  const sample = Number(options.sample);
  if (!Number.isInteger(sample) || sample < 1) {
    throw new ConfigError(`--sample takes a whole number above 0, not "${options.sample}"`);
  }
  const { manifest, baseDir } = await loadManifest(path, { env: context.env });
  const files = await findFiles(manifest, baseDir, settings);
  await checkHeaders(files, getReadOptions(manifest));
  const planned = await makePlan(manifest, files, sample);
  const refusal = refusalOf(() => checkLimits(planned, planned.limits, planned.approval));
  const full = options.full ? await planFull(context, manifest, files) : undefined;

  terminal.data(
    { ...planned, ...(full ? { full } : {}), ...(refusal ? { refused: refusal.message } : {}) },
    () => [renderPlan(planned), ...(full ? [full.text] : [])].join('\n\n'),
  );
  if (!refusal) return EXIT.done;
  terminal.say(getMessage(refusal));
  return EXIT.preflightRefused;
}

function refusalOf(check: () => void): PreflightError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof PreflightError) return error;
    throw error;
  }
}

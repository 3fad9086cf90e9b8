import { relative } from 'node:path';
import { initManifest } from '../../migrations/init/init.ts';
import { counted } from '../../migrations/plan/format-text.ts';
import { commandLine, quoted } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { number } from '../render/render-status.ts';
import { createPlanContextOf } from '../storage.ts';

/** `backhaul init <data>`: looks at an export, and writes a manifest for it. Asks nothing. */
export async function init(
  context: CommandContext,
  from: string,
  { out }: { readonly out?: string },
): Promise<ExitCode> {
  const cwd = process.cwd();
  const result = await initManifest(createPlanContextOf(context), { from, out, cwd });
  const { seen, path, sample, example } = result;
  const shown = relative(cwd, path) || path;
  context.terminal.data(result, () =>
    [
      seen,
      `Of ${counted(sample.records, 'sampled record')} ${number(sample.mapped)} ${sample.mapped === 1 ? 'becomes an event' : 'become events'}${sample.rejected > 0 ? `, and ${number(sample.rejected)} are rejected: ${example ?? ''}` : '.'}`,
      `Written: ${shown}. What is guessed is marked with CHECK. Next: ${commandLine(context, `plan ${quoted(shown)}`)}`,
    ].join('\n'),
  );
  return EXIT.done;
}

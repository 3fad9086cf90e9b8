import { runsBundledApi } from '../../embedded/supervisor.ts';
import { checkMigration } from '../../migrations/doctor.ts';
import { createMachineChecks } from '../../runtime/check-machine.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { createPlanContextOf } from '../storage.ts';

/** `backhaul doctor [manifest]`: everything a run needs, checked one by one. */
export async function doctor(
  { settings, env, terminal }: CommandContext,
  path: string | undefined,
  { sendProbe = false }: { readonly sendProbe?: boolean },
): Promise<ExitCode> {
  const result = await checkMigration(
    {
      ...createPlanContextOf({ settings, terminal }),
      env,
      machine: createMachineChecks(settings),
      isBundledRunning: async () => settings.apiUrl !== undefined || (await runsBundledApi(settings.dataDir)),
    },
    path,
    sendProbe,
  );
  terminal.data(result, () =>
    result.checks
      .map(({ name, ok, detail, ms }) => `${ok ? '✓' : '✗'} ${name.padEnd(12)} ${detail} (${ms} ms)`)
      .join('\n'),
  );
  return result.healthy ? EXIT.done : EXIT.usage;
}

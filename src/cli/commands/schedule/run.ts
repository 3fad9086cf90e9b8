import { parseStoredManifest } from '../../../../config/manifest/load-manifest.ts';
import { ConfigError } from '../../../lib/errors.ts';
import { runSchedule } from '../../../migrations/schedule/run-schedule.ts';
import { requireSchedule } from '../../../migrations/schedule/schedules.ts';
import { commandLine } from '../../command-line.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode, RUN_EXIT, StoppedError } from '../../exit-code.ts';
import { describeRun } from '../../render/render-schedules.ts';
import { renderStatus } from '../../render/render-status.ts';
import { noteStop } from '../../show-run.ts';
import { createStopSignal } from '../../stop-signal.ts';
import { openStoreOf } from '../../storage.ts';
import { withRuntime } from '../../with-runtime.ts';

/** `backhaul schedule run <name>`: one run of it now, in this process. */
export async function run(context: CommandContext, name: string): Promise<ExitCode> {
  const { terminal } = context;
  const { staging } = await openStoreOf(context);
  const { manifest } = await requireSchedule(staging, name);
  const api = parseStoredManifest(manifest, staging.location).destination === undefined;
  const again = commandLine(context, `schedule run ${name}`);
  return withRuntime(context, api, async (runtime) => {
    const stop = createStopSignal(terminal);
    stop.listen(`Stopped; everything so far is saved. Continue with: ${again}`, noteStop(name));
    try {
      const done = await runSchedule(runtime, name, {
        now: true,
        signal: stop.signal,
        importHere: true,
        onStatus: (status) => terminal.status((columns) => renderStatus(status, columns), status),
      });
      terminal.endStatus();
      if (done.kind === 'stopped') throw new StoppedError(done.reason);
      if (done.kind === 'under_way') throw new ConfigError(done.reason);
      if (done.kind === 'not_due') throw new ConfigError(`the schedule of ${name} was removed meanwhile`);
      terminal.data(done.run, () => `${name}: ${describeRun(done.run)}`);
      if (done.result === undefined) return EXIT.failed;
      return done.result.kind === 'nothing_new' ? EXIT.done : RUN_EXIT[done.result.kind];
    } finally {
      terminal.endStatus();
      stop.dispose();
    }
  });
}

import { UnavailableError } from '../lib/errors.ts';
import type { RunOptions, RunResult } from '../migrations/start.ts';
import { commandLine, resumeCommand } from './command-line.ts';
import type { CommandContext } from './context.ts';
import { StoppedError } from './exit-code.ts';
import { renderEnd, renderSaved } from './render/render-end.ts';
import { renderReport } from './render/render-report.ts';
import { renderStatus } from './render/render-status.ts';
import { createStopSignal } from './stop-signal.ts';

export interface ShowRunOptions {
  /** The command that was called, to be pasted. */
  readonly again: string;
  readonly produceOnly?: boolean | undefined;
  readonly acceptRefusals?: boolean | undefined;
  readonly onBegin?: (migration: string) => void;
}

/** Follows a run on the terminal, shows how it ended, and returns the result. */
export async function showRun<R extends RunResult | { readonly kind: 'nothing_to_replay' }>(
  context: CommandContext,
  { again, produceOnly = false, acceptRefusals = false, onBegin }: ShowRunOptions,
  start: (options: RunOptions) => Promise<R>,
): Promise<R> {
  const { terminal } = context;
  const stop = createStopSignal(terminal);
  stop.endWith(`Stopped before the run began; nothing of it was sent. Begin with: ${again}`);
  let result: R;
  let begun = '';
  const tellStarter = createStarterNote();
  try {
    result = await start({
      signal: stop.signal,
      importHere: !produceOnly,
      acceptRefusals,
      onBegin(migration) {
        onBegin?.(migration);
        begun = migration;
        stop.listen(
          `Stopped; everything so far is saved. Continue with: ${resumeCommand(context, migration)}`,
          noteStop(migration),
        );
      },
      onStatus(status) {
        tellStarter(begun);
        terminal.status((columns) => renderStatus(status, columns), status);
      },
    });
  } finally {
    terminal.endStatus();
    stop.dispose();
  }
  if (result.kind !== 'nothing_to_replay') showEnd(context, result, again);
  return result;
}

/** For whoever reads it elsewhere: status, the page and the webhook. */
export const noteStop = (migration: string): string =>
  `everything so far is saved; continue with: backhaul resume ${migration}`;

/** Tells the page that started this process, once, that the migration runs (server/operations). */
function createStarterNote(): (migration: string) => void {
  let isTold = false;
  return (migration) => {
    if (isTold || migration === '' || !process.connected) return;
    isTold = true;
    process.send?.({ migration });
  };
}

function showEnd(context: CommandContext, result: RunResult, again: string): void {
  const { terminal } = context;
  const { migration } = result;
  if ('report' in result) terminal.data(result.report, () => renderReport(result.report));
  const lines = renderEnd(result, {
    again,
    resume: resumeCommand(context, migration),
    rejects: commandLine(context, `rejects ls ${migration}`),
    personsSend: commandLine(context, `persons send ${migration}`),
  });
  for (const line of lines) terminal.info(line);
}

/** Where staging is down before anything was begun, the same command continues later. */
export async function orStopped<T>(again: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof UnavailableError ? new StoppedError(renderSaved(error.message, again)) : error;
  }
}

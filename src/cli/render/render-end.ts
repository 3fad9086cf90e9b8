import { explainRefusal } from '../../migrations/lifecycle.ts';
import type { Report } from '../../migrations/report/report.ts';
import type { RunResult } from '../../migrations/start.ts';

/** Commands to paste, as command-line.ts makes them. */
export interface NextCommands {
  /** The command that was called. */
  readonly again: string;
  readonly resume: string;
  readonly rejects: string;
  readonly personsSend: string;
}

/** What is left to do after a run, in lines for a person; none after one that is finished. */
export function renderEnd(
  result: RunResult,
  { again, resume, rejects, personsSend }: NextCommands,
): string[] {
  switch (result.kind) {
    case 'finished':
      return [];
    case 'failed':
      return [
        ...result.failures.map(({ work, reason }) => `${work.name} ${work.id}: ${reason}`),
        `${result.failures.length} failed; everything else was delivered. Once the cause is removed: ${resume}`,
      ];
    case 'unbalanced':
      return [
        'The books do not balance: the problems are named in the report above. Objects of staging are lost, or this is a bug in Backhaul; please report it with the report.',
      ];
    case 'rejects_above_threshold':
      return renderRefused(result.report, rejects, personsSend);
    case 'unavailable':
      return [renderSaved(result.reason, result.begun ? resume : again)];
    case 'held':
      if (result.state === 'removed' || result.state === 'moved' || result.state === 'importing')
        return [explainRefusal(result.state, { ...result, name: result.migration })];
      return [
        renderSaved(`The migration was ${result.state}${result.reason ? `: ${result.reason}` : ''}`, resume),
      ];
    case 'refused':
      return [
        result.refusal === 'resume_first' ? `${result.reason}; continue with: ${resume}` : result.reason,
      ];
    case 'stopped':
    case 'superseded':
    case 'approval_needed':
      return [result.reason];
  }
}

function renderRefused({ people, counts }: Report, rejects: string, personsSend: string): string[] {
  return [
    ...(counts.rejected > 0
      ? [`More records were rejected than rejects.failAbove allows. See them: ${rejects}`]
      : []),
    ...(people.held
      ? [
          `Nothing about persons was sent, because what a rejected record says may forbid a merge, and a merge cannot be undone. Replay the rejects first, then: ${personsSend}`,
        ]
      : []),
    ...(people.refusedCount > 0
      ? [
          `The destination refused ${people.refusedCount} events about persons and groups, as the report says. They are not sent again.`,
        ]
      : []),
  ];
}

export const renderSaved = (reason: string, command: string): string =>
  `${reason.replace(/\.$/, '')}. Everything so far is saved. Continue with: ${command}`;

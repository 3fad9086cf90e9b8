import type { RejectReason, ReplayedBy } from '../../migrations/rejects/rejects.ts';
import { number } from './render-status.ts';

/** Rejects by reason, with what was replayed of them by which migration, and what is left. */
export function renderRejects(reasons: readonly RejectReason[], replays: readonly ReplayedBy[]): string {
  const lines = reasons.flatMap(({ reason, count, left, example }) => [
    `${number(count).padStart(10)}  ${reason}${left === count ? '' : `, ${left === 0 ? 'none' : number(left)} left to replay`}`,
    `            ${example}`,
  ]);
  return [...lines, ...(replays.length > 0 ? ['', ...replays.map(describeReplay)] : [])].join('\n');
}

/** Why a replay had nothing to do; `toCommand` completes a command line. */
export const renderNothingLeft = (
  name: string,
  replays: readonly ReplayedBy[],
  toCommand: (args: string) => string,
): string =>
  [
    `Nothing is left to replay: its replays have what ${name} rejected in their books.`,
    ...replays.map(describeReplay),
    ...replays
      .filter(({ left = 0 }) => left > 0)
      .map(({ migration }) => `Send those after a correction: ${toCommand(`rejects replay ${migration}`)}`),
    `Send all of them once more, for example to a destination that lost them: ${toCommand(`rejects replay ${name} --again`)}`,
  ].join('\n');

const describeReplay = ({ migration, state, count, left }: ReplayedBy): string =>
  `${number(count)} replayed by ${migration} (${state})${describeLeft(left)}`;

function describeLeft(left: number | undefined): string {
  if (left === undefined) return ', which was removed with its rejects';
  return left === 0 ? '' : `, where ${number(left)} are rejected and left`;
}

/** What is left of a day's difference: `now - old`, less what other causes explain. */
export interface DayDifference {
  /** `2024-02-03` */
  readonly day: string;
  readonly old: number;
  readonly now: number;
  readonly left: number;
}

/**
 * The part of each day's difference that moves over midnight. The days of a vendor in another zone begin at
 * another hour, so that some events of each day are on the next one (zones west of Greenwich), or on the one
 * before; what leaves one day arrives at its neighbour. Explained is only what adds up to nothing over a run of
 * days, never moves more than a day has, and goes one way on all days: a loss is none of these.
 *
 * @param days In order, each once; a day that is missing has nothing to move.
 */
export function explainShift(days: readonly DayDifference[]): ReadonlyMap<string, number> {
  const later = moveOn(days);
  const earlier = moveOn(days.toReversed());
  return weigh(later) >= weigh(earlier) ? later : earlier;
}

const weigh = (moves: ReadonlyMap<string, number>): number =>
  [...moves.values()].reduce((sum, move) => sum + Math.abs(move), 0);

/** From each day to the next one of the list. */
function moveOn(days: readonly DayDifference[]): Map<string, number> {
  const moves = new Map<string, number>();
  let run: DayDifference[] = [];
  /** Events that have left the day before and have not arrived. */
  let carried = 0;
  const end = () => {
    run = [];
    carried = 0;
  };
  for (const [index, day] of days.entries()) {
    const next = days[index + 1];
    run.push(day);
    carried -= day.left;
    if (carried === 0) {
      for (const { day: name, left } of run) if (left !== 0) moves.set(name, left);
      end();
      continue;
    }
    const room = next && areNeighbours(day.day, next.day) ? Math.min(day.old, next.now) : 0;
    if (carried < 0 || carried > room) end();
  }
  return moves;
}

const DAY_MS = 86_400_000;

const areNeighbours = (a: string, b: string): boolean => Math.abs(Date.parse(a) - Date.parse(b)) === DAY_MS;

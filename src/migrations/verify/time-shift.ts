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
 * @param missing Events that some day lacks for another reason: they leave one day and arrive at none.
 */
export function explainShift(days: readonly DayDifference[], missing = 0): ReadonlyMap<string, number> {
  const later = moveOn(days, missing);
  const earlier = moveOn(days.toReversed(), missing);
  return weigh(later) >= weigh(earlier) ? later : earlier;
}

const weigh = (moves: ReadonlyMap<string, number>): number =>
  [...moves.values()].reduce((sum, move) => sum + Math.abs(move), 0);

/** From each day to the next one of the list. */
function moveOn(days: readonly DayDifference[], missing: number): Map<string, number> {
  const moves = new Map<string, number>();
  let run: DayDifference[] = [];
  /** Events that have left the day before and have not arrived. */
  let carried = 0;
  /** The day that lacks what is missing, once it is known; the latest one that can be it. */
  let lacking: string | undefined;
  const end = () => {
    run = [];
    carried = 0;
  };
  for (const [index, day] of days.entries()) {
    const next = days[index + 1];
    run.push(day);
    carried -= day.left;
    const neighbour = next && areNeighbours(day.day, next.day) ? next : undefined;
    // What arrived may be what is missing.
    const toRoom = (lost: number) => (neighbour ? Math.min(day.old, neighbour.now + lost) : 0);
    let room = toRoom(lacking === undefined ? missing : 0);
    if (carried > room && lacking === undefined && carried >= missing) {
      lacking = day.day;
      carried -= missing;
      room = toRoom(0);
    }
    if (carried === 0) {
      for (const { day: name, left } of run) {
        const move = left + (name === lacking ? missing : 0);
        if (move !== 0) moves.set(name, move);
      }
      end();
    } else if (carried < 0 || carried > room) end();
  }
  return moves;
}

const DAY_MS = 86_400_000;

const areNeighbours = (a: string, b: string): boolean => Math.abs(Date.parse(a) - Date.parse(b)) === DAY_MS;

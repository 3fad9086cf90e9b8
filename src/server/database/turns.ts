/** After so many others it is the turn of one that lets others go first, so that it is not put off for ever. */
const OTHERS_BEFORE_LAST = 8;

/**
 * Runs one piece of work at a time. Those that are to go first do so in the order in which they came; those
 * that go last come when no other waits, and after eight others at the latest.
 */
export function createTurns(): <T>(place: 'first' | 'last', work: () => Promise<T>) => Promise<T> {
  const waiting = { first: [] as (() => void)[], last: [] as (() => void)[] };
  let passedOver = 0;
  let running = false;

  function takeNext(): (() => void) | undefined {
    const lastIsDue = waiting.first.length === 0 || passedOver >= OTHERS_BEFORE_LAST;
    if (waiting.last.length > 0 && lastIsDue) {
      passedOver = 0;
      return waiting.last.shift();
    }
    if (waiting.last.length > 0) passedOver += 1;
    return waiting.first.shift();
  }

  function startNext(): void {
    const next = takeNext();
    if (next === undefined) running = false;
    else next();
  }

  return async (place, work) => {
    if (running) await new Promise<void>((start) => void waiting[place].push(start));
    running = true;
    try {
      return await work();
    } finally {
      // Whoever got this result may go on with its next statement: it comes before a question.
      if (waiting.first.length > 0) startNext();
      else setImmediate(startNext);
    }
  };
}

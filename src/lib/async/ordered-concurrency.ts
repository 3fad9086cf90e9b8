/**
 * Runs up to `width` tasks at a time over a source and yields their results in the source's order,
 * so that what the consumer has seen is always a prefix. After the first failure or an abort no new
 * task starts; those in flight may end within `graceMs` and the finished prefix is still yielded
 * before the error is thrown.
 */
export async function* mapInOrder<In, Out>(
  source: AsyncIterable<In>,
  width: number,
  signal: AbortSignal,
  task: (input: In, signal: AbortSignal) => Promise<Out>,
  graceMs = 5_000,
): AsyncGenerator<Out> {
  const inner = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const startGrace = () => {
    grace ??= setTimeout(() => inner.abort(signal.reason), graceMs);
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });

  const inFlight: Promise<{ value: Out } | { error: unknown }>[] = [];
  let failed = false;
  const start = (input: In) =>
    inFlight.push(
      task(input, inner.signal).then(
        (value) => ({ value }),
        (error: unknown) => {
          failed = true;
          return { error };
        },
      ),
    );

  const take = async (): Promise<Out> => {
    const result = await inFlight.shift();
    if (!result) throw new Error('nothing in flight');
    if ('error' in result) throw result.error;
    return result.value;
  };

  try {
    for await (const input of source) {
      if (signal.aborted || failed) break;
      start(input);
      if (inFlight.length >= width) yield await take();
    }
    while (inFlight.length > 0) yield await take();
    signal.throwIfAborted();
  } finally {
    signal.removeEventListener('abort', startGrace);
    clearTimeout(grace);
    inner.abort(new Error('no longer needed'));
    await Promise.allSettled(inFlight);
  }
}

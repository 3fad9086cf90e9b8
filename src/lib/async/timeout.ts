/**
 * The outcome of `work`, or `createError()` when it takes longer than `ms`. The work itself continues; what
 * becomes of it after that is ignored.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, createError: () => unknown): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(createError()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves once `work` has settled, whatever its outcome, and after `ms` at the latest. */
export async function settleWithin(work: Promise<unknown>, ms: number): Promise<void> {
  const settled = work.then(
    () => {},
    () => {},
  );
  await withTimeout(settled, ms, () => undefined).catch(() => {});
}

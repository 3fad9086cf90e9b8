/** Does something, and counts how often others could have done something meanwhile. */
export async function countTicks<T>(work: () => Promise<T>): Promise<{ value: T; turns: number }> {
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  try {
    const value = await work();
    return { value, turns };
  } finally {
    clearImmediate(next);
  }
}

/**
 * Each value as the mean of itself and those before it, `intervals` in all, rounded down as the service does. Of
 * the first values, which have fewer before them, the mean of those there are.
 */
export function smoothLine(line: readonly number[], intervals: number): readonly number[] {
  if (intervals === 1) return line;
  return line.map((_, index) => {
    const window = line.slice(Math.max(0, index + 1 - intervals), index + 1);
    return Math.floor(window.reduce((sum, value) => sum + value, 0) / window.length);
  });
}

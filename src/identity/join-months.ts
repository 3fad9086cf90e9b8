/** Those of both lists, each once. Most ids have one month: then the list is the one that is known. */
export function joinMonths(known: readonly number[], more: readonly number[]): readonly number[] {
  if (known.length === 0) return more;
  let all: number[] | undefined;
  for (const month of more) {
    if ((all ?? known).includes(month)) continue;
    all ??= [...known];
    all.push(month);
  }
  return all ?? known;
}

/** The candidate that a mistyped word most likely means, or undefined when none is similar. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = normalise(word);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, normalise(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** `; did you mean "x"?`, or an empty text. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = suggest(word, candidates);
  return found === undefined ? '' : `; did you mean "${found}"?`;
}

/** `api_key`, `api-key` and `APIKEY` are spellings of one word. */
const normalise = (word: string) => word.toLowerCase().replace(/[-_]/g, '');

/** Levenshtein, where two neighbours swapped count as one edit. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const at = (list: number[], index: number) => list[index] ?? Number.POSITIVE_INFINITY;
      let cost = Math.min(
        at(last, j) + 1,
        at(current, j - 1) + 1,
        at(last, j - 1) + Number(a[i - 1] !== b[j - 1]),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

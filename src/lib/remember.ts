/** Longer texts are worked on again: a cache of them would have no bound in bytes. */
const LONGEST = 2_000;

/**
 * Remembers what a pure function made of the texts that it was given lately: at least the last `most` of them,
 * and at most twice as many. Two generations cost one look-up where a list in the order of use costs four.
 */
export function remember<T>(most: number, work: (text: string) => T): (text: string) => T {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return (text) => {
    let made = young.get(text);
    if (made !== undefined || young.has(text)) return made as T;
    if (text.length > LONGEST) return work(text);
    made = old.has(text) ? (old.get(text) as T) : work(text);
    if (young.size >= most) {
      old = young;
      young = new Map();
    }
    young.set(text, made);
    return made;
  };
}

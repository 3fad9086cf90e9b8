/**
 * A deliberate breakage of the code that tests must notice. `edits` are exact texts of `file`, each of which
 * must occur there once, so a mutant fails loudly when the code moves away from under it.
 */
export interface Mutant {
  readonly id: string;
  /** What goes wrong, in the words of somebody who suffers from it. */
  readonly what: string;
  readonly file: string;
  readonly edits: readonly Edit[];
  /** Paths of test files or folders, of which one must fail. Unit and database tests, where they can notice. */
  readonly tests: readonly string[];
}

export type Edit = readonly [from: string, to: string];

/** A breakage that was tried and changes nothing that anybody could observe. */
export interface Equivalent {
  readonly id: string;
  readonly what: string;
  readonly reason: string;
}

/** @throws {Error} when the text of an edit does not occur exactly once. */
export function applyEdits(text: string, { id, file, edits }: Mutant): string {
  let changed = text;
  for (const [from, to] of edits) {
    const found = changed.split(from).length - 1;
    if (found !== 1) {
      throw new Error(
        `mutant ${id}: the text to replace occurs ${found} times in ${file}, expected once.\n` +
          `Move the mutant along with the code (test/mutants/catalogue), or list it as equivalent with a reason:\n${from}`,
      );
    }
    changed = changed.replace(from, () => to);
  }
  return changed;
}

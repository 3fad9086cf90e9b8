import type { Entrant, Run } from './contenders.ts';

/** What is wrong with the runs of a contender, for its row. */
export function describeProblems(runs: readonly Run[]): string | undefined {
  const [first] = runs.flatMap(({ problems }) => problems);
  return first === undefined ? undefined : `INVALID: ${first.replaceAll('\n', ' ')}`;
}

/** What is wrong with Backhaul's own runs, for the end of the benchmark. */
export const listOwnProblems = (
  entrants: readonly Entrant[],
  runs: ReadonlyMap<string, readonly Run[]>,
  where: string,
): string[] =>
  entrants
    .filter(({ own }) => own)
    .flatMap(({ key, title }) =>
      (runs.get(key) ?? []).flatMap(({ problems }) =>
        problems.map((problem) => `${where}: ${title}: ${problem}`),
      ),
    );

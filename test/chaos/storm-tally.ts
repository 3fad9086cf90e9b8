/** What a fault made of the producer that it met. */
export type End =
  /** It continues: the fault was sat out. */
  | 'unaffected'
  /** It had finished before the fault could do it harm. */
  | 'finished'
  | 'killed'
  /** It slept until another one had its lease. */
  | 'superseded'
  /** The destination gave no proof, or refused everything. */
  | 'paused';

/** The only ends after which the product may ask for a resume, and then for one. */
const RESUMED: ReadonlySet<End> = new Set<End>(['killed', 'superseded', 'paused']);

/** A kind of fault, as far as its resumes are concerned. */
export interface Allowing {
  readonly name: string;
  /** The end that it is for, unless the migration finishes first; undefined for faults that are sat out. */
  readonly ends?: End;
}

/** A fault that was drawn, and what became of the producer. */
export interface Drawn {
  readonly kind: Allowing;
  readonly end: End;
}

export interface Round {
  readonly storage: 'folder' | 'S3';
  readonly drawn: readonly Drawn[];
  /** Producers that took the migration up again; one that was refused, as another held the lease, took up nothing. */
  readonly resumes: number;
}

/** No fault draws on more resumes than its kind allows, and a round has exactly those that its faults needed. */
export function listUnjustified({ drawn, resumes }: Pick<Round, 'drawn' | 'resumes'>): string[] {
  const wrong = drawn
    .filter(({ kind, end }) => end !== 'finished' && end !== (kind.ends ?? 'unaffected'))
    .map(
      ({ kind, end }) =>
        `after "${kind.name}" the producer is ${end}, expected ${kind.ends ?? 'unaffected'} or finished`,
    );
  const needed = countNeeded(drawn);
  return resumes === needed
    ? wrong
    : [...wrong, `${resumes} resumes, but the faults called for ${needed}: ${renderEnds(drawn) || 'none'}`];
}

const countNeeded = (drawn: readonly Drawn[]): number => drawn.filter(({ end }) => RESUMED.has(end)).length;

/** Upper bound by the kinds alone: less only where the migration finished before the fault. */
const countAllowed = (drawn: readonly Drawn[]): number =>
  drawn.filter(({ kind }) => kind.ends !== undefined).length;

const renderEnds = (drawn: readonly Drawn[]): string =>
  renderCounts(drawn.map(({ end }) => end).filter((end) => RESUMED.has(end)));

export const renderResumes = ({ drawn, resumes }: Pick<Round, 'drawn' | 'resumes'>): string =>
  `resumes: ${resumes}, needed ${countNeeded(drawn)} (${renderEnds(drawn) || 'none'}), allowed at most ${countAllowed(drawn)}`;

/** The whole storm in a few lines. */
export function renderStorm(rounds: readonly Round[], seed: number): string {
  const drawn = rounds.flatMap((round) => round.drawn);
  const resumes = rounds.reduce((sum, round) => sum + round.resumes, 0);
  return [
    `storm: ${drawn.length} faults in ${rounds.length} rounds (${renderCounts(rounds.map(({ storage }) => `on ${storage}`))}), seed ${seed}`,
    ...countEach(drawn.map(({ kind }) => kind.name)).map(([name, count]) => `  ${count} × ${name}`),
    `  ${renderResumes({ drawn, resumes })}`,
  ].join('\n');
}

function countEach<T extends string>(names: readonly T[]): [T, number][] {
  const counts = new Map<T, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

const renderCounts = (names: readonly string[]): string =>
  countEach(names)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');

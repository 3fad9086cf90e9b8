/*
 * What happens to a migration of records that share ids: imports, top-ups, and replays of whatever there is. In short
 * notation a record is its id, whether its time can be read only by a corrected map, and its events:
 * `1: Bought two, Left` and `1 later: Odd`.
 */

/** An event; `i` is its place in its record, and with its name and the id of the record it makes the vendor's uuid. */
export interface Item {
  readonly e: string;
  readonly v?: string;
  readonly i: number;
}

export interface HistoryRecord {
  readonly u: string;
  readonly t: string;
  readonly n: string;
  readonly items: readonly Item[];
}

export type Step =
  | { readonly kind: 'import'; readonly files: readonly HistoryRecord[][]; readonly isRefusing: boolean }
  | {
      readonly kind: 'replay';
      /** Of the migrations that there are by then, from 0 up to 1. */
      readonly of: number;
      readonly isCorrected: boolean;
      readonly isRefusing: boolean;
      readonly again: boolean;
    }
  /** With its rejects, unless any is left to be replayed. */
  | { readonly kind: 'remove'; readonly of: number };

export const LATER = 'later';
export const DAYS = ['2024-02-03T04:05:06Z', '2024-02-04T04:05:06Z'] as const;
/** The event that the destination may refuse. */
export const ODD = 'Odd';

export function parseRecord(text: string): HistoryRecord {
  const [head = '', events = ''] = text.split(': ');
  const [n = '', later] = head.split(' ');
  return {
    ...{ u: 'user', t: later === undefined ? DAYS[0] : LATER, n },
    items: events.split(', ').map((event, i) => {
      const [e = '', v] = event.split(' ');
      return { e, ...(v === undefined ? {} : { v }), i };
    }),
  };
}

const formatRecord = ({ n, t, items }: HistoryRecord): string =>
  `${n}${t === LATER ? ' later' : t === DAYS[0] ? '' : ` ${t.slice(0, 10)}`}: ${items.map(({ e, v }) => (v === undefined ? e : `${e} ${v}`)).join(', ')}`;

export const formatHistory = (steps: readonly Step[]): string =>
  steps
    .map((step) => {
      if (step.kind === 'remove') return `removal of ${step.of.toFixed(2)}`;
      const refusing = step.isRefusing ? ', refusing' : '';
      if (step.kind === 'import')
        return `import${refusing}${step.files.map((file) => `\n    ${file.map(formatRecord).join(' | ')}`).join('')}`;
      return `replay of ${step.of.toFixed(2)}${step.isCorrected ? ', corrected' : ''}${refusing}${step.again ? ', again' : ''}`;
    })
    .join('\n  ');

const STEPS_MOST = 6;

/** A history that is likely to make events collide. */
export function drawHistory(random: () => number): Step[] {
  const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0];
  const upTo = (most: number) => 1 + Math.floor(random() * most);
  const hasOdd = random() < 0.7;
  const hasLate = random() < 0.7;
  const hasDays = random() < 0.3;
  const itemsMost = random() < 0.2 ? 1 : 3;
  const drawItem = (i: number): Item => {
    const e = pick(['Bought', 'Bought', 'Bought', 'Left', ...(hasOdd ? [ODD, ODD] : [])]);
    const hasContents = e === 'Bought' || (e === ODD && random() < 0.5);
    return { e, ...(hasContents ? { v: pick(['one', 'two', 'three']) } : {}), i };
  };
  const drawRecord = (): HistoryRecord => ({
    u: 'user',
    t: hasLate && random() < 0.2 ? LATER : hasDays ? pick(DAYS) : DAYS[0],
    n: random() < 0.85 ? '1' : '2',
    items: Array.from({ length: upTo(itemsMost) }, (_, i) => drawItem(i)),
  });
  const drawImport = (): Step => ({
    kind: 'import',
    files: Array.from({ length: upTo(2) }, () => Array.from({ length: upTo(3) }, drawRecord)),
    isRefusing: hasOdd && random() < 0.5,
  });
  const drawReplay = (): Step => ({
    kind: 'replay',
    of: random(),
    isCorrected: random() < 0.6,
    isRefusing: hasOdd && random() < 0.5,
    again: random() < 0.1,
  });
  const hasRemovals = random() < 0.5;
  const drawStep = (): Step => {
    if (hasRemovals && random() < 0.25) return { kind: 'remove', of: random() };
    return random() < 0.4 ? drawImport() : drawReplay();
  };
  const more = Array.from({ length: Math.floor(random() * STEPS_MOST) }, drawStep);
  return [drawImport(), ...more];
}

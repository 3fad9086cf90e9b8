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

/** The process is killed at a request or at a change of staging, which has its effect or none. */
export interface Cut {
  readonly at: 'request' | 'write';
  /** Requests, or writes, before it. */
  readonly after: number;
  readonly isTaken: boolean;
}

export type Step =
  | {
      readonly kind: 'import';
      readonly files: readonly HistoryRecord[][];
      readonly isRefusing: boolean;
      readonly cut?: Cut | undefined;
    }
  | {
      readonly kind: 'replay';
      /** Of the migrations that there are by then, from 0 up to 1. */
      readonly of: number;
      readonly isCorrected: boolean;
      readonly isRefusing: boolean;
      readonly again: boolean;
      readonly cut?: Cut | undefined;
    }
  /** Gives up a replay that was killed; the next one takes over what it had not finished. */
  | { readonly kind: 'cancel'; readonly of: number }
  /** Continues one that was killed. */
  | { readonly kind: 'resume'; readonly of: number; readonly isRefusing: boolean }
  /** With its rejects, unless any is left to be replayed. */
  | { readonly kind: 'remove'; readonly of: number; readonly cut?: Cut | undefined }
  /** Redis forgets all checkpoints. */
  | { readonly kind: 'lose' };

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
      if (step.kind === 'lose') return 'loss of checkpoints';
      const cut =
        'cut' in step && step.cut
          ? `, cut off ${step.cut.isTaken ? 'behind' : 'before'} ${step.cut.at} ${step.cut.after}`
          : '';
      if (step.kind === 'remove') return `removal of ${step.of.toFixed(2)}${cut}`;
      if (step.kind === 'cancel') return `cancelling ${step.of.toFixed(2)}`;
      const refusing = step.isRefusing ? ', refusing' : '';
      if (step.kind === 'resume') return `resume of ${step.of.toFixed(2)}${refusing}`;
      if (step.kind === 'import')
        return `import${refusing}${cut}${step.files.map((file) => `\n    ${file.map(formatRecord).join(' | ')}`).join('')}`;
      return `replay of ${step.of.toFixed(2)}${step.isCorrected ? ', corrected' : ''}${refusing}${step.again ? ', again' : ''}${cut}`;
    })
    .join('\n  ');

const STEPS_MOST = 6;

/** A history that is likely to make events collide. */
export function drawHistory(random: () => number, ids = Number.POSITIVE_INFINITY): Step[] {
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
    items: Array.from({ length: upTo(itemsMost) }, (_, i) => drawItem(i % ids)),
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
  const hasCuts = random() < 0.5;
  const drawCut = (): Cut =>
    random() < 0.5
      ? { at: 'request', after: Math.floor(random() * 3), isTaken: random() < 0.5 }
      : { at: 'write', after: Math.floor(random() * 16), isTaken: random() < 0.5 };
  const withCut = <One extends Step>(step: One): One =>
    hasCuts && random() < 0.4 ? { ...step, cut: drawCut() } : step;
  const drawStep = (): Step => {
    if (hasCuts && random() < 0.2)
      return { kind: 'resume', of: random(), isRefusing: hasOdd && random() < 0.5 };
    if (hasCuts && random() < 0.1) return { kind: 'cancel', of: random() };
    if (hasCuts && random() < 0.1) return { kind: 'lose' };
    if (hasRemovals && random() < 0.25) return withCut({ kind: 'remove', of: random() });
    return withCut(random() < 0.4 ? drawImport() : drawReplay());
  };
  const more = Array.from({ length: Math.floor(random() * STEPS_MOST) }, drawStep);
  return [withCut(drawImport()), ...more];
}

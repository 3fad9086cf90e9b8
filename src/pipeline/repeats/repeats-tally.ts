import type { RejectSegment } from '../../contract/progress.ts';
import { type Correction, countRepeatedEvents, type Repeats } from '../../state/repeats.ts';
import type { KeyEvents } from './decide-repeats.ts';

type Kind = keyof Correction;

/** Adds up what folding finds, record by record or range by range. */
export class RepeatsTally {
  readonly #total = noCorrection();
  readonly #byFile = new Map<string, Correction>();
  readonly #byDay = new Map<string, Correction>();
  readonly #byEvent = new Map<string, Correction>();
  readonly #rejectSegments: RejectSegment[] = [];
  #rows = 0;
  #events = 0;
  #elsewhere = 0;
  readonly #several: NonNullable<Repeats['several']> = [];

  addRecord(kind: Kind, of: { readonly file: string; readonly day: string; readonly event: string }): void {
    this.#total[kind] += 1;
    get(this.#byFile, of.file)[kind] += 1;
    get(this.#byDay, of.day)[kind] += 1;
    get(this.#byEvent, of.event)[kind] += 1;
  }

  addRows(rows: number): void {
    this.#rows += rows;
  }

  /** Accepted events that repeat or collide with others. */
  addEvents({ repeated, colliding, elsewhere }: KeyEvents): void {
    this.#events += repeated + colliding;
    this.#elsewhere += elsewhere;
  }

  /** A record of several events that collides, or stays, in one range at least. */
  addSeveral(one: NonNullable<Repeats['several']>[number]): void {
    this.#several.push(one);
  }

  /** Of all ranges that were added. */
  get several(): NonNullable<Repeats['several']> {
    return this.#several;
  }

  addRejectSegment(segment: RejectSegment): void {
    this.#rejectSegments.push(segment);
  }

  addAll(more: Repeats): void {
    this.#rows += more.rows;
    this.#events += countRepeatedEvents(more);
    this.#elsewhere += more.elsewhere ?? 0;
    for (const one of more.several ?? []) this.#several.push(one);
    add(this.#total, more.total);
    for (const [file, correction] of Object.entries(more.byFile)) add(get(this.#byFile, file), correction);
    for (const [day, correction] of Object.entries(more.byDay)) add(get(this.#byDay, day), correction);
    for (const [event, correction] of Object.entries(more.byEvent))
      add(get(this.#byEvent, event), correction);
    this.#rejectSegments.push(...more.rejectSegments);
  }

  build(): Repeats {
    return {
      rows: this.#rows,
      events: this.#events,
      ...(this.#elsewhere > 0 ? { elsewhere: this.#elsewhere } : {}),
      ...(this.#several.length > 0 ? { several: [...this.#several] } : {}),
      total: { ...this.#total },
      byFile: toSorted(this.#byFile),
      byDay: toSorted(this.#byDay),
      byEvent: toSorted(this.#byEvent),
      rejectSegments: [...this.#rejectSegments],
    };
  }
}

const noCorrection = (): Correction => ({ duplicate: 0, rejected: 0 });

function get(corrections: Map<string, Correction>, key: string): Correction {
  const known = corrections.get(key);
  if (known) return known;
  const correction = noCorrection();
  corrections.set(key, correction);
  return correction;
}

function add(sum: Correction, more: Correction): void {
  sum.duplicate += more.duplicate;
  sum.rejected += more.rejected;
}

const toSorted = (corrections: ReadonlyMap<string, Correction>): Record<string, Correction> =>
  Object.fromEntries([...corrections].toSorted(([a], [b]) => (a < b ? -1 : 1)));

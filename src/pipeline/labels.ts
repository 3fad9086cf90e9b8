/** What a record is counted under. */
export interface Label {
  /** UTC day of the source time, or `unknown`. */
  readonly day: string;
  /** Event name, or `(none)`. */
  readonly event: string;
  /** Of a record that is not sent. */
  readonly reason: string | undefined;
}

/** Numbers for labels, in the order in which they come: a part has few, and a number a record is cheap to keep. */
export class Labels {
  readonly #labels: Label[] = [];
  readonly #numbers = new Map<string | undefined, Map<string, Map<string, number>>>();

  toNumber(day: string, event: string, reason?: string): number {
    const byEvent = getOrSet(this.#numbers, reason);
    const byDay = getOrSet(byEvent, event);
    let number = byDay.get(day);
    if (number === undefined) {
      number = this.#labels.push({ day, event, reason }) - 1;
      byDay.set(day, number);
    }
    return number;
  }

  get(number: number): Label {
    const label = this.#labels[number];
    if (!label) throw new Error(`there is no label ${number}`);
    return label;
  }

  get all(): readonly Label[] {
    return this.#labels;
  }
}

function getOrSet<Key, Inner, Value>(map: Map<Key, Map<Inner, Value>>, key: Key): Map<Inner, Value> {
  let inner = map.get(key);
  if (!inner) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}

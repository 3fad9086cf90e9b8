import type { Happened, Somebody } from './history.ts';

/**
 * What insights count, worked out person by person in the simplest way: slow, and with no code of theirs.
 * Every function gives the ids of the persons that a number is of.
 */
export type Interval = 'hour' | 'day' | 'week' | 'month';

/** Where the interval begins that a moment is in, in UTC; weeks begin on Sunday. */
export function startOf(at: number, interval: Interval): number {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (interval) {
    case 'hour':
      return Date.UTC(year, month, day, date.getUTCHours());
    case 'day':
      return Date.UTC(year, month, day);
    case 'week':
      return Date.UTC(year, month, day - date.getUTCDay());
    case 'month':
      return Date.UTC(year, month);
  }
}

export function next(start: number, interval: Interval, count = 1): number {
  const date = new Date(start);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (interval) {
    case 'hour':
      return start + count * 3_600_000;
    case 'day':
      return Date.UTC(year, month, day + count);
    case 'week':
      return Date.UTC(year, month, day + 7 * count);
    case 'month':
      return Date.UTC(year, month + count, 1);
  }
}

export interface Range {
  /** First moment. */
  readonly from: number;
  /** First moment after it. */
  readonly until: number;
  readonly interval: Interval;
}

/** Starts of the intervals of a range. */
export function listStarts({ from, until, interval }: Range): number[] {
  const starts: number[] = [];
  for (let start = startOf(from, interval); start < until; start = next(start, interval)) starts.push(start);
  return starts;
}

const idsOf = (people: readonly Somebody[], holds: (somebody: Somebody) => boolean): string[] =>
  people
    .filter(holds)
    .map(({ id }) => id)
    .sort();

/** The name that stands for the action of a history. */
export const ACTION = 'the action';

const isOf = (event: Happened, name: string | undefined): boolean =>
  name === ACTION ? event.isOfAction === true : event.name === name;

const within = (events: readonly Happened[], name: string | null, from: number, until: number): Happened[] =>
  events.filter((event) => (name === null || isOf(event, name)) && event.at >= from && event.at < until);

const createdAt = ({ kind, events }: Somebody): number | undefined =>
  kind === 'robot' ? undefined : Math.min(...events.map(({ at }) => at));

export type Status = 'new' | 'returning' | 'resurrecting' | 'dormant';

export function inLifecycle(
  people: readonly Somebody[],
  name: string | null,
  { interval, until }: Range,
  status: Status,
  start: number,
): string[] {
  return idsOf(people, (somebody) => {
    const isActive = (from: number) =>
      within(somebody.events, name, from, Math.min(until, next(from, interval))).length > 0;
    const [before, now] = [isActive(next(start, interval, -1)), isActive(start)];
    const created = createdAt(somebody);
    if (!now) return status === 'dormant' && before;
    if (created !== undefined && startOf(created, interval) === start) return status === 'new';
    return status === (before ? 'returning' : 'resurrecting');
  });
}

export function activeIn(
  people: readonly Somebody[],
  name: string | null,
  range: Range,
  intervals: number,
): string[] {
  return idsOf(people, ({ events }) => {
    const all = within(events, name, range.from, range.until).map(({ at }) => startOf(at, range.interval));
    return new Set(all).size === intervals;
  });
}

export interface Retention {
  readonly target: string | null;
  readonly returning: string | null;
  readonly firstTime: boolean;
  readonly range: Range;
  /** Which target events count. @default all */
  readonly isWanted?: (event: Happened, somebody: Somebody) => boolean;
}

/** Of one row: every person with 1 or 0 for each interval from the row's. */
export function retained(
  people: readonly Somebody[],
  { target, returning, firstTime, range, isWanted = () => true }: Retention,
  row: number,
): Map<string, number[]> {
  const starts = listStarts(range);
  const start = starts[row] ?? 0;
  const end = next(start, range.interval);
  const found = people.filter((somebody) => {
    const own = within(somebody.events, target, firstTime ? -Infinity : start, end).filter((event) =>
      isWanted(event, somebody),
    );
    return firstTime ? own.length > 0 && Math.min(...own.map(({ at }) => at)) >= start : own.length > 0;
  });
  return new Map(
    found.map(({ id, events }) => [
      id,
      starts
        .slice(row)
        .map((from, later) =>
          Number(later === 0 || within(events, returning, from, next(from, range.interval)).length > 0),
        ),
    ]),
  );
}

export interface FunnelRules {
  readonly steps: readonly string[];
  readonly order: 'ordered' | 'strict' | 'unordered';
  /** Milliseconds. */
  readonly window: number;
  readonly exclusion?: { readonly name: string; readonly from: number; readonly to: number };
}

/** How many steps somebody reached in their best attempt. `events` are in order of time and uuid. */
export const reachedSteps = (events: readonly Happened[], rules: FunnelRules): number =>
  bestAttempt(events, rules).length;

/** When the steps of the best attempt were reached: the one with most steps, of these the earliest. */
export function bestAttempt(events: readonly Happened[], rules: FunnelRules): number[] {
  return listAttempts(events, rules).reduce((best, times) => (times.length > best.length ? times : best), []);
}

/** For each event when the steps of an attempt were reached that begins with it: none where it cannot begin one. */
export function listAttempts(events: readonly Happened[], rules: FunnelRules): number[][] {
  const attempt = { ordered: attemptOrdered, strict: attemptStrict, unordered: attemptUnordered }[
    rules.order
  ];
  return events.map((_, start) => attempt(events, start, rules));
}

function attemptOrdered(events: readonly Happened[], start: number, rules: FunnelRules): number[] {
  const { steps, window, exclusion } = rules;
  const first = events[start];
  if (first === undefined || !isOf(first, steps[0])) return [];
  const times = [first.at];
  for (let step = 1; step < steps.length; step++) {
    const before = times.at(-1) ?? 0;
    const isSame = steps[step] === steps[step - 1];
    const later = events
      .filter((event) => isOf(event, steps[step]) && (isSame ? event.at > before : event.at >= before))
      .map(({ at }) => at);
    const time = Math.min(...later);
    if (time > first.at + window) break;
    times.push(time);
  }
  if (exclusion !== undefined) {
    const from = times[exclusion.from];
    const to = Math.min(times[exclusion.to] ?? Infinity, first.at + window);
    if (
      from !== undefined &&
      events.some((event) => isOf(event, exclusion.name) && event.at > from && event.at < to)
    ) {
      return [];
    }
  }
  return times;
}

function attemptStrict(events: readonly Happened[], start: number, { steps, window }: FunnelRules): number[] {
  const [first, times]: [number, number[]] = [events[start]?.at ?? 0, []];
  for (const [step, name] of steps.entries()) {
    const event = events[start + step];
    if (event === undefined || !isOf(event, name) || event.at > first + window) break;
    times.push(event.at);
  }
  return times;
}

function attemptUnordered(
  events: readonly Happened[],
  start: number,
  { steps, window }: FunnelRules,
): number[] {
  const first = events[start];
  if (first === undefined || !steps.some((step) => isOf(first, step))) return [];
  const reach = events.filter(({ at }) => at >= first.at && at <= first.at + window);
  return steps
    .flatMap((step) => reach.find((event) => isOf(event, step))?.at ?? [])
    .sort((one, other) => one - other);
}

/** Everybody's first, or last, value at any of these steps; empty where they have none. */
export function touchedValue(
  events: readonly Happened[],
  steps: readonly string[],
  isLast: boolean,
  toValue: (event: Happened) => string = ({ plan }) => plan,
): string {
  const values = events
    .filter((event) => steps.some((step) => isOf(event, step)))
    .flatMap((event) => toValue(event) || []);
  return (isLast ? values.at(-1) : values[0]) ?? '';
}

/** How long the session of an event took in whole seconds, of which only the events of a span and a day around count. */
export function sessionLength(
  { session }: Happened,
  events: readonly Happened[],
  { from, until }: Pick<Range, 'from' | 'until'>,
): string {
  if (session === '') return '';
  const times = events
    .filter(
      (event) => event.session === session && event.at >= from - 86_400_000 && event.at < until + 86_400_000,
    )
    .map(({ at }) => at);
  return String(Math.floor((Math.max(...times) - Math.min(...times)) / 1000));
}

/** What every person did of a trend's events in a span: the events. */
export function doers(
  people: readonly Somebody[],
  name: string | null,
  span: { readonly from: number; readonly until: number },
  isWanted: (event: Happened, somebody: Somebody) => boolean = () => true,
): Map<string, Happened[]> {
  const found = new Map<string, Happened[]>();
  for (const somebody of people) {
    const own = within(somebody.events, name, span.from, span.until).filter((event) =>
      isWanted(event, somebody),
    );
    if (own.length > 0) found.set(somebody.id, own);
  }
  return found;
}

export interface PathRules {
  readonly stepLimit: number;
  readonly startPoint?: string | undefined;
  readonly endPoint?: string | undefined;
}

/** The sessions of somebody as paths: names of events, without those that repeat the one before. */
export function listPaths(events: readonly Happened[], rules: PathRules): string[][] {
  const sessions: Happened[][] = [];
  for (const event of events) {
    const before = sessions.at(-1)?.at(-1);
    if (before === undefined || event.at - before.at >= 1_800_000) sessions.push([event]);
    else sessions.at(-1)?.push(event);
  }
  return sessions.map((session) => {
    const items = session.map(({ name }) => name).filter((name, index, all) => name !== all[index - 1]);
    const { startPoint, endPoint, stepLimit } = rules;
    const met = items.indexOf(startPoint ?? endPoint ?? '');
    if ((startPoint ?? endPoint) !== undefined && met === -1) return [];
    if (endPoint !== undefined) return items.slice(Math.max(0, met - stepLimit + 1), met + 1);
    return items.slice(Math.max(0, met)).slice(0, stepLimit);
  });
}

import { DAY_MS } from '../lib/day.ts';
import { formatDay, MONTHS } from './format.ts';

/** What the values of a plot belong to, from left to right. */
export interface Axis {
  /** One for each value. */
  readonly labels: readonly string[];
  /** The few that are written below the plot. */
  readonly ticks: readonly Tick[];
  /** What the axis leaves out, in a sentence. */
  readonly note?: string;
}

export interface Tick {
  /** Of the value. */
  readonly index: number;
  readonly label: string;
  /** Below it: the day of the first hour, the year of the first day, and of each that begins another. */
  readonly below?: string;
}

/** More would run into one another beside another tile; a phone shows every second one. */
const MAX_TICKS = 7;

/** `3 days`, `4 days`: as many as fit, evenly apart. `most`: fewer where they are longer or the plot is narrower. */
export function createWordAxis(labels: readonly string[], most = MAX_TICKS): Axis {
  const step = Math.ceil(labels.length / most);
  const ticks = labels.flatMap((label, index) => (index % step === 0 ? [{ index, label }] : []));
  return { labels, ticks };
}

/**
 * An axis of days (`2024-01-31`) or hours (`2024-01-31 08:00:00`). Ticks are where a calendar has its own: at
 * full hours, days, Mondays, and the first days of months, quarters and years.
 */
export function createTimeAxis(days: readonly string[]): Axis {
  const labels = days.map(formatDay);
  if (days.length <= MAX_TICKS) {
    const each = days.map((_, index) => index);
    return { labels, ticks: writeTicks(days, each, days[0]?.includes(' ') ? 'hour' : 'day') };
  }
  for (const { unit, group } of UNITS) {
    const indexes = findBoundaries(days, group);
    if (indexes.length > 1 && indexes.length <= MAX_TICKS) {
      return { labels, ticks: writeTicks(days, indexes, unit) };
    }
  }
  return { labels, ticks: writeTicks(days, [0, days.length - 1], 'day') };
}

type Unit = 'hour' | 'day' | 'month' | 'year';

const toEpochDay = (day: string): number => Math.floor(Date.parse(`${day.slice(0, 10)}T00:00:00Z`) / DAY_MS);
const getHour = (day: string): number => Number(day.slice(11, 13));
const getMonth = (day: string): number => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1;
const getYear = (day: string): number => Number(day.slice(0, 4));

const byHours = (count: number) => ({
  unit: 'hour' as const,
  group: (day: string) => toEpochDay(day) * 24 + Math.floor(getHour(day) / count) * count,
});
/** 1970-01-05 was a Monday. */
const byDays = (count: number) => ({
  unit: 'day' as const,
  group: (day: string) => Math.floor((toEpochDay(day) - 4) / count),
});
const byMonths = (count: number) => ({
  unit: 'month' as const,
  group: (day: string) => Math.floor(getMonth(day) / count),
});
const byYears = (count: number) => ({
  unit: 'year' as const,
  group: (day: string) => Math.floor(getYear(day) / count),
});

/** From fine to coarse: the first that has few enough boundaries is taken. */
const UNITS: readonly { readonly unit: Unit; readonly group: (day: string) => number }[] = [
  ...[1, 3, 6, 12].map(byHours),
  ...[1, 2, 7, 14].map(byDays),
  ...[1, 3].map(byMonths),
  ...[1, 2, 5, 10, 25, 100].map(byYears),
];

/** Share of the distance between two ticks that the first value needs to have a tick of its own. */
const ROOM_AT_START = 0.75;

/** Where a group begins. The first value has a tick where there is room up to the next. */
function findBoundaries(days: readonly string[], group: (day: string) => number): number[] {
  const groups = days.map(group);
  const boundaries = groups.flatMap((value, index) =>
    index > 0 && value !== groups[index - 1] ? [index] : [],
  );
  const [first = days.length, second = days.length] = boundaries;
  return first >= ROOM_AT_START * (second - first) ? [0, ...boundaries] : boundaries;
}

function writeTicks(days: readonly string[], indexes: readonly number[], unit: Unit): Tick[] {
  return indexes.map((index, place) => {
    const before = place === 0 ? '' : (days[indexes[place - 1] ?? 0] ?? '');
    return { index, ...writeTick(days[index] ?? '', before, unit) };
  });
}

/** What the tick before says already is not repeated. */
function writeTick(day: string, before: string, unit: Unit): Omit<Tick, 'index'> {
  const year = day.slice(0, 4);
  if (unit === 'year') return { label: year };
  const isNew = (length: number) => before.slice(0, length) !== day.slice(0, length);
  if (unit === 'hour') {
    return { label: day.slice(11, 16), ...(isNew(10) ? { below: formatDay(day.slice(0, 10)) } : {}) };
  }
  const month = MONTHS[Number(day.slice(5, 7)) - 1] ?? '';
  const label = unit === 'month' ? month : `${Number(day.slice(8, 10))} ${month}`;
  return { label, ...(isNew(4) ? { below: year } : {}) };
}

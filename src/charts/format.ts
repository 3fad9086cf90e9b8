const FULL = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const WHOLE_PERCENT = new Intl.NumberFormat('en-US', { style: 'percent' });
const PERCENT = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** `1,234.5` */
export const formatNumber = (value: number): string => FULL.format(value);

/** `1.2K`, for axes. */
export const formatShort = (value: number): string => (Math.abs(value) < 10_000 ? FULL : SHORT).format(value);

/** `12.5%` of a whole; nothing of nothing. */
export const formatShare = (part: number, whole: number): string =>
  PERCENT.format(whole === 0 ? 0 : part / whole);

/** `13%`, where there is room for no more. */
export const formatWholeShare = (part: number, whole: number): string =>
  WHOLE_PERCENT.format(whole === 0 ? 0 : part / whole);

export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `2024-01-31` → `31 Jan 2024`, `2024-01-31 08:00:00` → `31 Jan 2024, 08:00` */
export function formatDay(day: string): string {
  const [date = '', time = ''] = day.split(' ');
  const [year = '', month, dayOfMonth] = date.split('-');
  const shown = `${Number(dayOfMonth)} ${MONTHS[Number(month) - 1] ?? ''} ${year}`;
  return time === '' ? shown : `${shown}, ${time.slice(0, 5)}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/** `2 d 4 h`, `3 min 20 s`, `0.4 s`: two units at most. */
export function formatDuration(seconds: number): string {
  const [unit, size] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1];
  if (unit === 's') return `${FULL.format(Math.round(seconds * 10) / 10)} s`;
  const whole = Math.floor(seconds / size);
  const [nextUnit, nextSize] = UNITS[UNITS.findIndex(([name]) => name === unit) + 1] ?? ['s', 1];
  const rest = Math.round((seconds - whole * size) / nextSize);
  if (rest * nextSize >= size) return `${FULL.format(whole + 1)} ${unit}`;
  return rest === 0 ? `${FULL.format(whole)} ${unit}` : `${FULL.format(whole)} ${unit} ${rest} ${nextUnit}`;
}

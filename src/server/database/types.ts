/**
 * How values of Postgres become values of JavaScript, the same for both drivers. JSON stays text:
 * JSON.parse would lose the digits of large numbers (invariant I9), so rooms parse it with json.ts.
 */
export type ParseValue = (text: string) => unknown;

const INT8 = 20;
const JSON_TEXT = 114;
const TIMESTAMPTZ = 1184;
const JSONB = 3802;

export const VALUE_PARSERS: Readonly<Record<number, ParseValue>> = {
  [INT8]: Number, // counts only: no column holds an int8 of its own
  [JSON_TEXT]: (text) => text,
  [JSONB]: (text) => text,
  [TIMESTAMPTZ]: parseTimestamp,
};

/** A time of the years 1 to 9999 where the session has UTC, as it should (pool.ts). */
const UTC_TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?\+00$/;

/** `2024-01-31 08:00:00.5+00` or `+05:30` → ISO 8601 in UTC with milliseconds. */
function parseTimestamp(text: string): string {
  const [, day, time, fraction = ''] = UTC_TIME.exec(text) ?? [];
  // A `Date` takes ten times as long, and a large answer has thousands.
  if (day !== undefined && time !== undefined) return `${day}T${time}.${fraction.padEnd(3, '0')}Z`;
  const iso = text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  return new Date(iso).toISOString();
}

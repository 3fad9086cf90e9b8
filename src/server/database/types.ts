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

/** `2024-01-31 08:00:00.5+00` or `+05:30` → ISO 8601 in UTC with milliseconds. */
function parseTimestamp(text: string): string {
  const iso = text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
  return new Date(iso).toISOString();
}

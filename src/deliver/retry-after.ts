/** A destination that asks for more is asked again after this long all the same. */
const LONGEST_MS = 60 * 60 * 1000;

/** Reads a Retry-After header, seconds or an HTTP date. https://www.rfc-editor.org/rfc/rfc9110#field.retry-after */
export function parseRetryAfter(header: string | undefined, nowMs: number): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(Math.ceil(ms), 0), LONGEST_MS);
}

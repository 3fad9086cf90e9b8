const LONGEST = 200;

/**
 * What a destination says in the body of its answer, short enough for a report: the detail of a JSON
 * error, else the text of the page. The key is blotted out, in case the answer repeats it (I10).
 */
export function extractErrorText(body: string, secret = ''): string {
  const words = (detailOf(body) ?? body.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' '))
    .replace(/\s+/g, ' ')
    .trim();
  const safe = secret === '' ? words : words.replaceAll(secret, '***');
  return safe.length > LONGEST ? `${safe.slice(0, LONGEST - 1)}…` : safe;
}

function detailOf(body: string): string | undefined {
  const value = parseJson(body);
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const name of ['detail', 'error', 'message']) {
    const text: unknown = Reflect.get(value, name);
    if (typeof text === 'string' && text !== '') return text;
  }
  return undefined;
}

/** The value, or undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

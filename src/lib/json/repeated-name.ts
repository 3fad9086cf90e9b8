/** Strings, with what makes them names; and whatever opens or closes a level. */
const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/gs;

/**
 * Whether two fields of an object have one name, of which JSON.parse keeps the last alone and other readers the first.
 * Looks at the outermost object only. The text must be JSON.
 */
export function hasRepeatedName(text: string): boolean {
  const seen = new Set<unknown>();
  let depth = 0;
  for (const [token, colon] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (colon !== undefined && depth === 1) {
      const name: unknown = JSON.parse(token.slice(0, -colon.length)); // one name may be written in several ways
      if (seen.has(name)) return true;
      seen.add(name);
    }
  }
  return false;
}

/** Tags as they are kept: without space around them, in lower case, each once, none empty. */
export function normaliseTags(tags: readonly string[]): string[] {
  const normal = tags.map((tag) => tag.trim().toLowerCase()).filter((tag) => tag !== '');
  return [...new Set(normal)];
}

/**
 * The same text, in one piece. Text that was put together keeps all of its pieces alive, several times its size,
 * until somebody looks at a character of it.
 */
export function flatten(text: string): string {
  text.charCodeAt(text.length - 1);
  return text;
}

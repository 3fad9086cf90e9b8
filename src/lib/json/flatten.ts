/**
 * The same text, in one piece. Text that was put together keeps all of its pieces alive, several times its size,
 * until somebody looks at a character of it.
 */
export function flatten(text: string): string {
  text.charCodeAt(text.length - 1);
  return text;
}

const copied = Buffer.allocUnsafe(64);

/** The same short text of ASCII. A piece of a longer one keeps all of that alive. */
export function copyShort(text: string): string {
  return text.length > copied.length ? text : copied.toString('latin1', 0, copied.write(text, 'latin1'));
}

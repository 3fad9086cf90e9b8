/** Behind the closing quote of the JSON string that begins at `start`. */
export function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  throw new Error('a string without an end');
}

/** Behind the JSON value that begins at `start`: at the comma or bracket there, with no blanks between. */
export function findValueEnd(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return findStringEnd(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (code === 0x2c && depth === 0) return at;
  }
  throw new Error('a value without an end');
}

/** The same of a value in bytes that is plain: see `isPlain` of a token. */
export function findEndOfPlain(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  let at = start + 1;
  if (first === QUOTE) {
    while (bytes[at] !== QUOTE) at += 1;
    return at + 1;
  }
  if (first === 0x7b || first === 0x5b) {
    for (let depth = 1; depth > 0; at += 1) {
      const code = bytes[at];
      if (code === QUOTE) at = findEndOfPlain(bytes, at) - 1;
      else if (code === 0x7b || code === 0x5b) depth += 1;
      else if (code === 0x7d || code === 0x5d) depth -= 1;
    }
    return at;
  }
  while (bytes[at] !== 0x2c && bytes[at] !== 0x7d && bytes[at] !== 0x5d) at += 1;
  return at;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

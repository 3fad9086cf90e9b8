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

/** The same of a value in bytes. */
export function findEndOfBytes(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) {
      at += 1;
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
      if (depth === 0) return at + 1;
    } else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (code === 0x2c && depth === 0) return at;
  }
  throw new Error('a value without an end');
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Behind the closing quote of the JSON string that begins at `start` of UTF-8. Throws where there is none before `stop`. */
export function findStringEnd(bytes: Uint8Array, start: number, stop: number): number {
  for (let at = start + 1; at < stop; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  throw new Error('a string without an end');
}

/** The same in text. */
export function findStringEndInText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  throw new Error('a string without an end');
}

/** Behind any value of UTF-8: at the comma or bracket there, with no blanks between. */
export function findValueEnd(bytes: Uint8Array, start: number, stop: number): number {
  if (bytes[start] === QUOTE) return findStringEnd(bytes, start, stop);
  let depth = 0;
  for (let at = start; at < stop; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) at = findStringEnd(bytes, at, stop) - 1;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (code === 0x2c && depth === 0) return at;
  }
  throw new Error('a value without an end');
}

/** The same of a value that is plain: see `isPlain` of a token. */
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

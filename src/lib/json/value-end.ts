/** Behind the closing quote of the JSON string that begins at `start` of UTF-8. Throws where there is none before `stop`. */
function findStringEnd(bytes: Uint8Array, start: number, stop: number): number {
  const near = Math.min(stop, start + MOST_SHORT);
  let at = start + 1;
  for (; at < near; at += 1) {
    const code = bytes[at];
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at += 1;
  }
  for (let end = bytes.indexOf(QUOTE, at); end !== -1 && end < stop; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (end - 1 - escapes >= at && bytes[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  throw new Error('a string without an end');
}

/** Bytes of a string that a loop reads sooner than the call of a native function begins. */
const MOST_SHORT = 64;

/** The same in text. */
export function findStringEndInText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
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

/** The same in text. */
export function findValueEndInText(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return findStringEndInText(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEndInText(text, at) - 1;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (code === 0x2c && depth === 0) return at;
  }
  throw new Error('a value without an end');
}

/** Behind a value of UTF-8 that is plain: see `isPlain` of a token. */
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

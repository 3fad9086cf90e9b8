/**
 * Looking at JSON text without parsing it. Strings are found by hand: a pattern that matches them
 * backtracks, and takes hours over text that was made for it.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const NOT_NUMBERS = /NaN|Infinity/;

/** How many objects and lists the text opens. */
export function countContainers(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) count += 1;
  }
  return count;
}

/** Python clients write NaN and Infinity, which JSON does not have; they count as null. */
export function replaceNotNumbers(text: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const start = quote === -1 ? text.length : quote;
    const between = text.slice(at, start);
    if (NOT_NUMBERS.test(between)) {
      pieces.push(text.slice(done, at), between.replaceAll(/-?\b(?:NaN|Infinity)\b/g, 'null'));
      done = start;
    }
    at = quote === -1 ? start : endOfString(text, quote) + 1;
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(done);
}

/** Place of the quote that ends the string; the end of the text where there is none. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - 1 - before) % 2 === 1;
}

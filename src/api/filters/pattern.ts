import { translateClass, translateOutside } from './pattern-characters.ts';

/** Patterns of people stay far below; a longer one counts as invalid. */
export const MAX_PATTERN_CHARACTERS = 1000;
/** Atoms after every `{n,m}` is written out, as the service's own engine bounds them (RE2). */
export const MAX_PATTERN_SIZE = 1000;
/** What Postgres takes for n and m. */
const MAX_REPEATS = 255;
const MAX_GROUP_DEPTH = 50;

const LEADING_FLAGS = /^\(\?([ims]{1,3})\)/;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y;
const OPENING = /\((?:\?(?::|P?<[A-Za-z_]\w{0,99}>|(<?[=!])))?/y;
const CLOSING = /\)/y;
/** What matches a place, not a character; it cannot be repeated. */
const PLACE = /[|^$]|\\[bBAzZ]/y;
const PLACES: ReadonlyMap<string, string> = new Map([
  ['\\b', '\\y'],
  ['\\B', '\\Y'],
  ['\\z', '\\Z'],
]);
const CLASS = /\[\^?\]?(?:\\[\s\S]|\[:\^?[a-z]+:\]|[^\]\\])*\]/y;
const ESCAPE = /\\(?:x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|[\s\S])/uy;
const LITERAL = /[^\\[()*+?|^$]/uy;

/** A group that is still open. */
interface Frame {
  size: number;
  readonly looksAround: boolean;
}

/**
 * The regular expression that Postgres is to search with, undefined when the pattern is invalid: not in
 * the syntax that RE2 and Python share, or one that would take Postgres too long. `(?i)`, `(?m)` and `(?s)`
 * are understood at the front; back references, which alone make Postgres search exponentially, are not.
 *
 * `.` matches every character, as it does at the service (ClickHouse turns RE2's `s` flag on) and here.
 * https://www.postgresql.org/docs/current/functions-matching.html#FUNCTIONS-POSIX-REGEXP
 */
export function toPostgresPattern(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARACTERS) return undefined;
  const flags = LEADING_FLAGS.exec(pattern);
  let at = flags?.[0].length ?? 0;
  let written = translateFlags(flags?.[1] ?? '');
  const open: Frame[] = [];
  let frame: Frame = { size: 0, looksAround: false };
  /** Size of what a quantifier would repeat; 0 where there is nothing to repeat. */
  let atom = 0;

  function take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = at;
    const match = token.exec(pattern);
    if (match !== null) at = token.lastIndex;
    return match;
  }

  function write(text: string, size: number): void {
    written += text;
    atom = size;
    frame.size += size;
  }

  while (at < pattern.length && frame.size <= MAX_PATTERN_SIZE) {
    const quantifier = take(QUANTIFIER);
    if (quantifier !== null) {
      const repeats = countRepeats(quantifier);
      if (atom === 0 || repeats === undefined) return undefined;
      frame.size += atom * (repeats - 1);
      write(quantifier[0], 0);
      continue;
    }
    const opening = take(OPENING);
    if (opening !== null) {
      if (open.length === MAX_GROUP_DEPTH) return undefined;
      open.push(frame);
      frame = { size: 0, looksAround: opening[1] !== undefined };
      write(`(?${opening[1] ?? ':'}`, 0);
      continue;
    }
    if (take(CLOSING) !== null) {
      const [inner, outer] = [frame, open.pop()];
      if (outer === undefined) return undefined;
      frame = outer;
      write(')', inner.size);
      atom = inner.looksAround ? 0 : Math.max(atom, 1);
      continue;
    }
    const place = take(PLACE);
    if (place !== null) {
      write(PLACES.get(place[0]) ?? place[0], 0);
      continue;
    }
    const text = translateAtom(take);
    if (text === undefined) return undefined;
    write(text, 1);
  }
  return open.length === 0 && frame.size <= MAX_PATTERN_SIZE ? written : undefined;
}

type Take = (token: RegExp) => RegExpExecArray | null;

function translateAtom(take: Take): string | undefined {
  const bracket = take(CLASS);
  if (bracket !== null) return translateClass(bracket[0]);
  const escaped = take(ESCAPE);
  if (escaped !== null) return translateOutside(escaped[0]);
  const literal = take(LITERAL);
  return literal === null ? undefined : literal[0] === '.' ? '.' : translateOutside(literal[0]);
}

/** `m` lets ^ and $ match at line breaks, which Postgres calls `w`. `s` is always on. */
function translateFlags(flags: string): string {
  const written = `${flags.includes('i') ? 'i' : ''}${flags.includes('m') ? 'w' : ''}`;
  return written === '' ? '' : `(?${written})`;
}

/** How many copies a quantifier stands for at most, itself repeating counted as one. */
function countRepeats([, from, comma, to]: RegExpExecArray): number | undefined {
  if (from === undefined) return 1;
  const [least, most] = [Number(from), Number(comma === undefined || to === '' ? from : to)];
  return least <= most && most <= MAX_REPEATS ? Math.max(most, 1) : undefined;
}

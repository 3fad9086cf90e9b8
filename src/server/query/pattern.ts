import { translateClass, translateOutside } from './pattern-characters.ts';

/** Patterns of people stay far below; a longer one counts as invalid. */
export const MAX_PATTERN_CHARACTERS = 1000;
/** Atoms once every `{n,m}` is written out, as the service's own engine bounds them (RE2). */
export const MAX_PATTERN_SIZE = 1000;
/**
 * Atoms that may be absent, in groups that are written out several times: `(?:a?b?){50}` has 100. Postgres
 * takes the cube of their number to prepare a pattern: 0.1 s for 100, 20 s for 1000.
 */
export const MAX_LOOSE_COPIES = 100;
/** What Postgres takes for n and m. */
const MAX_REPEATS = 255;
const MAX_GROUP_DEPTH = 50;

const LEADING_FLAGS = /^\(\?([ims]{1,3})\)/;

/** The words of the syntax; the first that fits is meant. A place is no character and cannot be repeated. */
const TOKENS = [
  ['quantifier', /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y],
  ['opening', /\((?:\?(?::|P?<[A-Za-z_]\w{0,99}>))?/y],
  ['closing', /\)/y],
  ['place', /[|^$]|\\[bBAzZ]/y],
  ['class', /\[\^?\]?(?:\\[\s\S]|\[:\^?[a-z]+:\]|[^\]\\])*\]/y],
  ['character', /\\(?:x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|[\s\S])|[^\\[()*+?|^$]/uy],
] as const;

const PLACES: ReadonlyMap<string, string> = new Map([
  ['\\b', '\\y'],
  ['\\B', '\\Y'],
  ['\\z', '\\Z'],
]);

/** What stands between two parentheses, or what a quantifier repeats. */
interface Extent {
  /** Atoms, repeated ones as often as they are. */
  readonly size: number;
  /** Those of them that may be absent. */
  readonly loose: number;
}

const NOTHING: Extent = { size: 0, loose: 0 };
const ATOM: Extent = { size: 1, loose: 0 };

const add = (a: Extent, b: Extent): Extent => ({ size: a.size + b.size, loose: a.loose + b.loose });

/**
 * The regular expression that Postgres is to search with; undefined when the pattern is invalid, or would
 * take Postgres long. The syntax is that of RE2, the service's engine, so there are no back references and
 * no looking around, for which alone Postgres takes more than linear time. `(?i)`, `(?m)` and `(?s)` are
 * understood at the front.
 *
 * `.` matches every character, as it does at the service (ClickHouse turns RE2's `s` flag on) and here.
 * https://www.postgresql.org/docs/current/functions-matching.html#FUNCTIONS-POSIX-REGEXP
 */
export function toPostgresPattern(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN_CHARACTERS) return undefined;
  const flags = LEADING_FLAGS.exec(pattern);
  let at = flags?.[0].length ?? 0;
  let written = translateFlags(flags?.[1] ?? '');
  const outer: Extent[] = [];
  let group = NOTHING;
  /** What a quantifier would repeat, counted in `group` already; undefined where there is nothing. */
  let last: Extent | undefined;
  let looseCopies = 0;

  while (at < pattern.length) {
    const token = readToken(pattern, at);
    if (token === undefined) return undefined;
    at += token.match[0].length;
    const text = write(token);
    if (text === undefined) return undefined;
    written += text;
    switch (token.kind) {
      case 'quantifier': {
        const repeats = countRepeats(token.match);
        if (last === undefined || repeats === undefined) return undefined;
        if (repeats.most > 1) looseCopies += last.loose * repeats.most;
        group = add(group, repeat(last, repeats));
        last = undefined;
        break;
      }
      case 'opening':
        outer.push(group);
        group = NOTHING;
        last = undefined;
        break;
      case 'closing': {
        const around = outer.pop();
        if (around === undefined) return undefined;
        last = group;
        group = add(around, group);
        break;
      }
      case 'place':
        last = undefined;
        break;
      default:
        last = ATOM;
        group = add(group, ATOM);
    }
    if (group.size > MAX_PATTERN_SIZE || looseCopies > MAX_LOOSE_COPIES || outer.length > MAX_GROUP_DEPTH) {
      return undefined;
    }
  }
  return outer.length === 0 ? written : undefined;
}

interface Token {
  readonly kind: (typeof TOKENS)[number][0];
  readonly match: RegExpExecArray;
}

function readToken(pattern: string, at: number): Token | undefined {
  for (const [kind, word] of TOKENS) {
    word.lastIndex = at;
    const match = word.exec(pattern);
    if (match !== null) return { kind, match };
  }
  return undefined;
}

/** A token in the words of Postgres. */
function write({ kind, match: [text] }: Token): string | undefined {
  switch (kind) {
    case 'opening':
      return '(?:';
    case 'place':
      return PLACES.get(text) ?? text;
    case 'class':
      return translateClass(text);
    case 'character':
      return text === '.' ? text : translateOutside(text);
    default:
      return text;
  }
}

/** `m` lets ^ and $ match at line breaks, which Postgres calls `w`. `s` is always on. */
function translateFlags(flags: string): string {
  const written = `${flags.includes('i') ? 'i' : ''}${flags.includes('m') ? 'w' : ''}`;
  return written === '' ? '' : `(?${written})`;
}

/** Postgres writes out what is counted, and loops for the rest: `*` and `+` stand for one copy. */
interface Repeats {
  readonly least: number;
  readonly most: number;
}

function countRepeats([text, from, comma, to]: RegExpExecArray): Repeats | undefined {
  if (from === undefined) return { least: text.startsWith('+') ? 1 : 0, most: 1 };
  const least = Number(from);
  const most = comma === undefined || to === '' ? Math.max(least, 1) : Number(to);
  return least <= most && most <= MAX_REPEATS ? { least, most } : undefined;
}

/** What repeating adds to an extent that was counted once. */
function repeat({ size, loose }: Extent, { least, most }: Repeats): Extent {
  const copies = Math.max(most, 1);
  return { size: size * (copies - 1), loose: (least === 0 ? size * copies : loose * copies) - loose };
}

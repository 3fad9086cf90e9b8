/** Characters and classes of a pattern in the form of Postgres; undefined for what is invalid. */

/** Written out, because what Postgres takes for a digit or a letter depends on the locale of the server. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ['\\d', '0-9'],
  ['\\w', 'A-Za-z0-9_'],
  ['\\s', ' \\t\\n\\r\\f\\v'],
  // Brackets cannot hold [^0-9]: the ranges around it.
  ['\\D', '\u0001-/:-\u{10ffff}'],
  ['\\W', '\u0001-/:-@\\[-\\^`{-\u{10ffff}'],
  ['\\S', '\u0001-\u0008\u000e-\u001f!-\u{10ffff}'],
  ['[:alnum:]', 'A-Za-z0-9'],
  ['[:alpha:]', 'A-Za-z'],
  ['[:digit:]', '0-9'],
  ['[:lower:]', 'a-z'],
  ['[:space:]', ' \\t\\n\\r\\f\\v'],
  ['[:upper:]', 'A-Z'],
  ['[:word:]', 'A-Za-z0-9_'],
  ['[:xdigit:]', 'A-Fa-f0-9'],
]);
const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['a', 7],
  ['t', 9],
  ['n', 10],
  ['v', 11],
  ['f', 12],
  ['r', 13],
]);

/** `a`, `\d`, `\n`, `\.`, `\x41` outside of brackets. */
export function translateOutside(text: string): string | undefined {
  const inside = CLASSES.get(text);
  return inside === undefined ? translateCharacter(text) : `[${inside}]`;
}

function translateCharacter(text: string): string | undefined {
  const code = readCharacter(text);
  return code === undefined ? undefined : writeCharacter(code);
}

/** The code point of `a`, `\.`, `\n` or `\x41`. Other letters and digits mean back references and the like. */
function readCharacter(text: string): number | undefined {
  if (text.startsWith('[:')) return undefined;
  if (!text.startsWith('\\')) return text.codePointAt(0);
  const name = text.slice(1);
  const hex = /^(?:x\{(\w+)\}|[xu](\w+))$/.exec(name);
  if (hex === null)
    return CONTROLS.get(name) ?? (/^[A-Za-z0-9]/.test(name) ? undefined : name.codePointAt(0));
  const code = Number.parseInt(hex[1] ?? hex[2] ?? '', 16);
  // Postgres has no place for NUL, surrogates and what lies beyond Unicode.
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? undefined : code;
}

/** The character itself, whatever it means in patterns. */
function writeCharacter(code: number): string {
  const character = String.fromCodePoint(code);
  return /^[!-/:-@[-`{-~]$/.test(character) ? `\\${character}` : character;
}

function writeRange(from: string, to: string): string | undefined {
  const [least, most] = [readCharacter(from), readCharacter(to)];
  if (least === undefined || most === undefined || least > most) return undefined;
  return `${writeCharacter(least)}-${writeCharacter(most)}`;
}

const CLASS_ITEM =
  /\[:\^?[a-z]+:\]|\\(?:x[0-9a-fA-F]{2}|x\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|[\s\S])|[^\\]/gu;

/** `[a-z\d_]`, from bracket to bracket. */
export function translateClass(bracket: string): string | undefined {
  const negated = bracket[1] === '^';
  const items = bracket.slice(negated ? 2 : 1, -1).match(CLASS_ITEM) ?? [];
  if (items.length === 0) return undefined;
  let written = '';
  for (let at = 0; at < items.length; at++) {
    const item = items[at] ?? '';
    const [dash, end] = [items[at + 1], items[at + 2]];
    if (dash === '-' && end !== undefined) {
      const range = writeRange(item, end);
      if (range === undefined) return undefined;
      written += range;
      at += 2;
      continue;
    }
    const text = CLASSES.get(item) ?? translateCharacter(item);
    if (text === undefined) return undefined;
    written += text;
  }
  return `[${negated ? '^' : ''}${written}]`;
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A place in the source that ends a run with a message. */
export interface Message {
  readonly place: string;
  /** The beginning of its text; `…` stands for what is filled in. Empty where it is passed on. */
  readonly text: string;
}

const ERROR = /new (Config|Source|Preflight|Unavailable|Unable|Paused|FencedOut|Refused|Stopped)Error\(/g;

/** All texts of errors in the given rooms, as far as they are written where the error is made. */
export function listMessages(root: string, rooms: readonly string[]): Message[] {
  return rooms.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => {
        const text = readFileSync(join(root, room, name), 'utf8');
        return [...text.matchAll(ERROR)].map(({ index, 0: start, 1: kind }) => ({
          place: `${room}/${name}:${text.slice(0, index).split('\n').length}`,
          // The first argument of a refusal is its code.
          text: readLiterals(text.slice(index + start.length), kind === 'Refused'),
        }));
      }),
  );
}

/** The literals of the first argument, or of all, which may be joined by `+`, a list or a choice. */
function readLiterals(code: string, ofAll: boolean): string {
  let text = '';
  let depth = 0;
  for (let at = 0; at < code.length; at += 1) {
    const char = code[at] ?? '';
    if (char === "'" || char === '"' || char === '`') {
      const end = findEnd(code, at);
      text += code.slice(at + 1, end);
      at = end;
    } else if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char)) {
      depth -= 1;
      if (depth < 0) break;
    } else if (char === ',' && depth === 0 && !ofAll) break;
  }
  return replaceHoles(text).replace(/\\n/g, ' ').replace(/\\(.)/g, '$1').replace(/\s+/g, ' ').trim();
}

/** The end of a literal, over the holes of a template. */
function findEnd(code: string, start: number): number {
  const quote = code[start];
  for (let at = start + 1; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (quote === '`' && code.startsWith('${', at)) at = findHoleEnd(code, at);
    else if (code[at] === quote) return at;
  }
  return code.length;
}

function findHoleEnd(code: string, start: number): number {
  let depth = 0;
  for (let at = start + 1; at < code.length; at += 1) {
    const char = code[at] ?? '';
    if (char === '{') depth += 1;
    else if (char === '`' || char === "'") at = findEnd(code, at);
    else if (char === '}') {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return code.length;
}

function replaceHoles(text: string): string {
  let result = '';
  for (let at = 0; at < text.length; at += 1) {
    if (!text.startsWith('${', at)) result += text[at];
    else {
      result += '…';
      at = findHoleEnd(text, at);
    }
  }
  return result;
}

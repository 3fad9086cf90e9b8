import { setImmediate } from 'node:timers/promises';
import { isExactNumber } from '../../lib/json/exact-number.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { isJsonObject } from './json.ts';

/** Takes a few milliseconds to write. */
const CHARACTERS_A_TURN = 64 * 1024;

/** The text of stringifyJson in pieces. Other requests have a turn between them. */
export async function* streamJson(document: unknown): AsyncGenerator<string, void, undefined> {
  let text = '';
  for (const part of renderParts(document)) {
    text += part;
    if (text.length < CHARACTERS_A_TURN) continue;
    yield text;
    text = '';
    await setImmediate();
  }
  yield text;
}

/** Lists of scalars, such as the numbers of a series, stay in one piece. */
function* renderParts(value: unknown): Generator<string, void, undefined> {
  if (Array.isArray(value) && value.some(isContainer)) {
    let before = '[';
    for (const member of value) {
      yield before;
      yield* renderParts(member);
      before = ',';
    }
    yield ']';
  } else if (isJsonObject(value) && Object.values(value).some(isContainer)) {
    let before = '{';
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* renderParts(member);
      before = ',';
    }
    yield '}';
  } else {
    yield stringifyJson(value);
  }
}

const isContainer = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !isExactNumber(value);

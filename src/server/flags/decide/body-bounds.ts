import { invalidInput } from '../../http/errors.ts';

/** Names of properties that a request may hold, in all its fields together. Clients send some hundreds. */
export const MAX_NAMES = 10_000;

/** A name takes this much text at least: `"":{`. */
const MIN_NAME_BYTES = 4;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Refuses a body with too many names before it is parsed, which takes seconds for hundreds of thousands of them.
 * Small bodies, which cannot hold so many, are not looked through.
 *
 * @throws ApiError 400 that names the field in which there are too many
 */
export function refuseManyNames(json: string | Buffer): void {
  if (json.length < MAX_NAMES * MIN_NAME_BYTES) return;
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  let names = 0;
  let depth = 0;
  let field: string | null = null;
  let nameAt = 0;
  let nameEnd = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE: {
        nameAt = at + 1;
        nameEnd = findStringEnd(bytes, nameAt);
        at = nameEnd;
        break;
      }
      case OPEN_BRACE:
        depth += 1;
        break;
      case CLOSE_BRACE:
        depth -= 1;
        break;
      case COLON:
        if (depth === 1) field = bytes.toString('utf8', nameAt, Math.min(nameEnd, nameAt + MAX_SHOWN));
        names += 1;
        if (names > MAX_NAMES) throw tooManyNames(field);
        break;
      default:
    }
  }
}

const MAX_SHOWN = 100;

const tooManyNames = (field: string | null) =>
  invalidInput(
    `The request holds more than ${MAX_NAMES} names of properties. Send those that conditions of flags ask for.`,
    field,
  );

/** Where the closing quote is; the end of the text where there is none. */
function findStringEnd(bytes: Buffer, from: number): number {
  for (let end = bytes.indexOf(QUOTE, from); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let before = end - 1;
    while (before >= from && bytes[before] === BACKSLASH) before -= 1;
    if ((end - 1 - before) % 2 === 0) return end;
  }
  return bytes.length;
}

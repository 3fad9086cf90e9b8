import { type JsonToken, OBJECT } from '../../../lib/json/json-token.ts';
import { markNames } from '../../../lib/json/property-list.ts';
import { RecordScanner } from '../../../lib/json/record-scanner.ts';
import { countContainers } from '../../../lib/json/scan-json.ts';
import { findValueEnd } from '../../../lib/json/value-end.ts';
import { mayHoldTooMany, parseStrictly } from '../../http/safe-json.ts';
import { READ_PROPERTIES, type ReadProperties } from '../read-properties.ts';

/** What is read of an event beside its properties, and of a request that is one event. */
export const READ_FIELDS = [
  'event',
  'uuid',
  '$distinct_id',
  'distinct_id',
  'timestamp',
  'offset',
  '$set',
  '$set_once',
  'batch',
  'historical_migration',
  'sent_at',
  '$token',
  'token',
  'api_key',
] as const;

/** An event as it was sent, or those of its fields that are read. */
export type Item = Readonly<
  Partial<Record<(typeof READ_FIELDS)[number], unknown>> & { readonly properties?: unknown }
>;

export interface ReadItem {
  /** At least the fields and properties that are read; all of them where `propertiesText` is undefined. */
  readonly value: unknown;
  /** All properties (UTF-8), as they were sent. Undefined where other text is stored: numbers have one spelling. */
  readonly propertiesText: Uint8Array | undefined;
  /** Behind its last byte. */
  readonly end: number;
}

const IS_READ = markNames(READ_PROPERTIES);

/**
 * Reads items of requests in one pass over their bytes, without making values of what is only stored, which is most
 * of an event. One reader serves all requests, as it knows which names follow one another.
 */
export class ItemReader {
  readonly #scanner = new RecordScanner(new Set([...READ_FIELDS, 'properties']));
  readonly #fields = READ_FIELDS.map((name) => ({ name, token: this.#scanner.getField(name) }));
  readonly #properties = this.#scanner.getField('properties');
  /** Objects and lists of items that the scanner left. */
  #otherContainers = 0;
  /** How many there had been before this request. */
  #containersBefore = 0;

  /** Has to come before the items of a request. */
  begin(): void {
    this.#containersBefore = this.#countContainers();
  }

  /**
   * The item from `start`, in bytes that are UTF-8 and have something behind it. `depth`: the levels around it.
   *
   * @throws SyntaxError where it is not JSON or may not be stored, Error where it has no end, or the items so far may
   * have more objects and lists than a request may: values are made of no more
   */
  readAny(bytes: Buffer, start: number, depth: number): ReadItem {
    const item = this.readUsual(bytes, start, depth);
    if (item !== undefined) return item;
    const end = findValueEnd(bytes, start, bytes.length);
    const text = bytes.toString('utf8', start, end);
    this.#otherContainers += countContainers(text);
    this.#assertFew(bytes);
    return { value: parseStrictly(text, depth), propertiesText: undefined, end };
  }

  /**
   * The same. Undefined where it is no object, is nested deeply, or has a number with an exponent or anything that is
   * not JSON.
   */
  readUsual(bytes: Buffer, start: number, depth: number): ReadItem | undefined {
    const scanner = this.#scanner;
    const end = scanner.scanNext(bytes, start);
    if (end === undefined) return undefined;
    this.#assertFew(bytes);
    const properties = this.#properties;
    const isStoredAsSent = properties.isThere && properties.kind === OBJECT && !scanner.hasOtherSpelling;
    const propertiesText = isStoredAsSent ? bytes.subarray(properties.start, properties.end) : undefined;
    // An escape may stand for a character that cannot be stored.
    const isWhole = propertiesText === undefined || scanner.hasCodes;
    const value = isWhole ? parseStrictly(bytes.toString('utf8', start, end), depth) : this.#pickRead();
    return { value, propertiesText, end };
  }

  /** Has to come behind them: lets their text go. */
  end(): void {
    this.#scanner.forget();
  }

  #assertFew(bytes: Buffer): void {
    const count = this.#countContainers() - this.#containersBefore;
    if (mayHoldTooMany(bytes.length, count)) throw new Error('it may have too many objects and lists');
  }

  #countContainers(): number {
    return this.#scanner.containers + this.#otherContainers;
  }

  #pickRead(): Item {
    const value: Record<string, unknown> = {};
    for (const { name, token } of this.#fields) if (token.isThere) value[name] = token.parse();
    value['properties'] = pickProperties(this.#properties);
    return value;
  }
}

function pickProperties({ members }: JsonToken): ReadProperties {
  const properties: Record<string, unknown> = {};
  const { count, names, values } = members;
  for (let at = 0; at < count; at += 1) {
    const name = names[at];
    if (name !== undefined && (name.mark & IS_READ) !== 0) properties[name.text] = values[at]?.parse();
  }
  return properties;
}

import { isAscii, isUtf8 } from 'node:buffer';
import { type Rejected, rejected } from '../../contract/outcome.ts';
import { type PartRecord, RECORD_MAX_BYTES, type RecordFormat } from '../../contract/part.ts';
import { getMessage, SourceError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { limitNames } from '../../lib/json/property-list.ts';
import { RecordScanner } from '../../lib/json/record-scanner.ts';
import { isDeeperThan } from '../../lib/json/scan-json.ts';
import { shorten } from '../../lib/preview.ts';
import { createRowParser, uniqueNames } from './csv-row.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ParsedObject {
  readonly kind: 'object';
  readonly value: Fields;
}

export type ParsedRecord = ParsedObject | Rejected;
export type ParseRecord = (record: PartRecord) => ParsedRecord;
/** Of the bytes from `start` up to, but not including, `end`. */
export type ParseBytes = (bytes: Buffer, start: number, end: number) => ParsedRecord;

/** Deeper nesting is an attack or an accident, and would overflow the stack of recursive code. */
const MAX_DEPTH = 200;

/**
 * Makes the parser of one part's records. Bad records are values (I7). `viewFields`: those of a map that takes views;
 * a view is good until the next record is parsed.
 *
 * @throws SourceError for a bad header
 */
export function createBytesParser(
  format: RecordFormat,
  header: Uint8Array | undefined,
  viewFields?: ReadonlySet<string>,
): ParseBytes {
  const parseText = format.kind === 'json' ? parseObject : createCsvParser(format.delimiter, header);
  const parse: ParseBytes = (bytes, start, end) => {
    limitNames();
    const text = decode(bytes, start, end);
    return text === undefined ? rejected('unreadable', 'the record is not valid UTF-8') : parseText(text);
  };
  if (format.kind !== 'json' || !viewFields) return parse;
  const scanner = new RecordScanner(viewFields);
  return (bytes, start, end) => {
    const view = scanner.scan(bytes, start, end);
    return view ? { kind: 'object', value: view as unknown as Fields } : parse(bytes, start, end);
  };
}

/** The same for records by themselves. */
export function createRecordParser(format: RecordFormat, header: Uint8Array | undefined): ParseRecord {
  const parse = createBytesParser(format, header);
  return (record) => {
    if (record.kind === 'oversize') return rejectOversize(record.size);
    const bytes = toBuffer(record.bytes);
    return parse(bytes, 0, bytes.length);
  };
}

export const rejectOversize = (size: number): Rejected =>
  rejected(
    'record_too_large',
    `the record has ${size} bytes, more than the ${RECORD_MAX_BYTES} that one record may have`,
  );

function decode(bytes: Buffer, start: number, end: number): string | undefined {
  const own = bytes.subarray(start, end);
  if (isAscii(own)) return bytes.toString('latin1', start, end);
  return isUtf8(own) ? bytes.toString('utf8', start, end) : undefined;
}

const toBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function parseObject(text: string): ParsedRecord {
  if (isDeeperThan(text, MAX_DEPTH)) {
    return rejected('unreadable', `the record is nested deeper than ${MAX_DEPTH} levels`);
  }
  let value: unknown;
  try {
    // Files set one after the other leave byte order marks in the middle.
    value = parseJson(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    return rejected(
      'unreadable',
      `the record is not JSON (${shorten(getMessage(error), 200)})${explainCarriageReturns(text)}`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    return rejected('not_an_object', `the record is ${what}, where an object with fields was expected`);
  }
  return { kind: 'object', value: value as Record<string, unknown> };
}

/** A file with the line ends of old Macs is one single line to other systems. */
const explainCarriageReturns = (text: string): string =>
  /\r(?!\n|$)/.test(text)
    ? '; its line holds bare carriage returns: if they are meant to end records, save the file with Unix or Windows line ends'
    : '';

function createCsvParser(delimiter: string, header: Uint8Array | undefined): (text: string) => ParsedRecord {
  const parseRow = createRowParser(delimiter);
  const headerText = header && decode(toBuffer(header), 0, header.length);
  const cells = headerText === undefined ? undefined : parseRow(headerText);
  if (!cells) throw new SourceError('the header row of a CSV part is missing, or not readable UTF-8');
  // Assigning to __proto__ would set no column.
  const names = uniqueNames(cells.map((name) => (name === '__proto__' ? '__proto___' : name)));

  return (text) => {
    const row = parseRow(text);
    if (!row)
      return rejected('unreadable', 'the row has a quote that is not closed, or text behind a closing quote');
    if (row.length !== names.length) {
      return rejected('unreadable', `the row has ${row.length} cells, the header ${names.length}`);
    }
    const value: Record<string, unknown> = {};
    for (let index = 0; index < row.length; index += 1) value[names[index] as string] = row[index];
    return { kind: 'object', value };
  };
}

import type { PartRecord, RecordFormat } from '../src/contract/part.ts';
import { asFields, type Fields } from '../src/sources/mapping/table.ts';
import type { SourceTypeName } from '../src/sources/registry.ts';
import { toCall, toRudderstackCall } from './calls.ts';

/** The sample's records as one source exports them. */
export interface SourceRecords {
  readonly type: SourceTypeName;
  readonly format: RecordFormat;
  readonly header: Uint8Array | undefined;
  readonly records: readonly PartRecord[];
  /** The same records as JSON texts: what JSON.parse is measured on. Of a CSV, an object a row. */
  readonly texts: readonly string[];
}

export function amplitudeRecords(records: readonly PartRecord[]): SourceRecords {
  const texts = records.flatMap((record) => textOf(record) ?? []);
  return { type: 'amplitude', format: JSON_FORMAT, header: undefined, records, texts };
}

/** The other sources' records are made of Amplitude's, so that all of them tell the same story. */
export function otherSources(amplitude: SourceRecords): SourceRecords[] {
  const records = amplitude.texts.map((text): Fields => JSON.parse(text));
  return [
    jsonRecords('segment', records.map(toCall)),
    jsonRecords('rudderstack', records.map(toRudderstackCall)),
    jsonRecords('jsonl', records.map(flatten)),
    csvRecords(records.map(flatten)),
  ];
}

const JSON_FORMAT: RecordFormat = { kind: 'json' };

/** The readable text of a record, or undefined where the sample broke it. */
function textOf(record: PartRecord): string | undefined {
  if (record.kind !== 'record') return undefined;
  const text = Buffer.from(record.bytes).toString('utf8');
  return text.endsWith('}') ? text : undefined;
}

function jsonRecords(type: SourceTypeName, values: readonly object[]): SourceRecords {
  const texts = values.map((value) => JSON.stringify(value));
  return { type, format: JSON_FORMAT, header: undefined, records: texts.map(toRecord), texts };
}

function csvRecords(values: readonly Fields[]): SourceRecords {
  const columns = [...new Set(values.flatMap(Object.keys))];
  const rows = values.map((value) => columns.map((column) => cellOf(value[column])).join(','));
  return {
    type: 'csv',
    format: { kind: 'csv', delimiter: ',' },
    header: Buffer.from(columns.map(cellOf).join(',')),
    records: rows.map(toRecord),
    texts: values.map((value) => JSON.stringify(value)),
  };
}

const toRecord = (text: string, index: number): PartRecord => ({
  kind: 'record',
  member: undefined,
  line: index + 1,
  bytes: Buffer.from(text),
});

const cellOf = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A row as a warehouse keeps it: own properties beside the fixed ones, nothing nested. */
function flatten(record: Fields): Fields {
  const scalars = Object.entries(record).filter(([, value]) => typeof value !== 'object' || value === null);
  const own = Object.entries(asFields(record['event_properties']) ?? {});
  const company: unknown = asFields(record['groups'])?.['company'];
  return {
    ...Object.fromEntries(scalars),
    ...Object.fromEntries(own.map(([name, value]) => [`p_${name}`, String(value)])),
    company: Array.isArray(company) ? company[0] : null,
  };
}

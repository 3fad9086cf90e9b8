import type { PartRecord, RecordFormat } from '../src/contract/part.ts';
import type { Fields } from '../src/sources/mapping/table.ts';
import { SOURCE_TYPES } from '../src/sources/registry.ts';

/** The sample's records as one source exports them. */
export interface SourceRecords {
  readonly type: string;
  readonly format: RecordFormat;
  readonly header: Uint8Array | undefined;
  readonly records: readonly PartRecord[];
  /** The same records as JSON texts: what JSON.parse is measured on. Of a CSV, an object a row. */
  readonly texts: readonly string[];
}

export function amplitudeRecords(records: readonly PartRecord[]): SourceRecords {
  const texts = records.flatMap((record) => getText(record) ?? []);
  return { type: 'amplitude', format: JSON_FORMAT, header: undefined, records, texts };
}

/** The other sources' records are made of Amplitude's, so that all of them hold the same events. */
export function otherSources(amplitude: SourceRecords): SourceRecords[] {
  const events = amplitude.texts.map((text): Fields => JSON.parse(text));
  return SOURCE_TYPES.flatMap(({ type, sample }) => {
    if (!sample || type === amplitude.type) return [];
    const records = events.map(sample.toRecord);
    return sample.format === 'csv' ? toCsv(type, records) : toJsonLines(type, records);
  });
}

const JSON_FORMAT: RecordFormat = { kind: 'json' };

/** The readable text of a record, or undefined where the sample broke it. */
function getText(record: PartRecord): string | undefined {
  if (record.kind !== 'record') return undefined;
  const text = Buffer.from(record.bytes).toString('utf8');
  return text.endsWith('}') ? text : undefined;
}

function toJsonLines(type: string, values: readonly Fields[]): SourceRecords {
  const texts = values.map((value) => JSON.stringify(value));
  return { type, format: JSON_FORMAT, header: undefined, records: texts.map(toRecord), texts };
}

function toCsv(type: string, values: readonly Fields[]): SourceRecords {
  const columns = [...new Set(values.flatMap(Object.keys))];
  const rows = values.map((value) => columns.map((column) => toCell(value[column])).join(','));
  return {
    type,
    format: { kind: 'csv', delimiter: ',' },
    header: Buffer.from(columns.map(toCell).join(',')),
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

const toCell = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

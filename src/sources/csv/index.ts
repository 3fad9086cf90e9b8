import { z } from 'zod';
import { dropEvents, encoding } from '../common-options.ts';
import { declaredMaps } from '../declared/declared.ts';
import { findUnmatched } from '../declared/find-unmatched.ts';
import { listUnheeded, toFindSent } from '../declared/list-unheeded.ts';
import { createMappingSchema } from '../declared/options.ts';
import { SAMPLE_OPTIONS, toSampleRow } from '../declared/sample.ts';
import { createHideHashed } from '../declared/values/hide-hashed.ts';
import { defineFileSource } from '../files/define-file-source.ts';
import { createCheckColumns } from './check-columns.ts';

const DELIMITER = 'takes one character, or tab';
const delimiter = z
  .union([z.literal('tab'), z.string().length(1, DELIMITER)], { error: DELIMITER })
  .transform((written) => (written === 'tab' ? '\t' : written))
  .default(',')
  .describe('What separates the columns: one character, or `tab`.');

export const csvOptions = z.strictObject({
  delimiter,
  encoding,
  dropEvents,
  mapping: createMappingSchema(['', '\\N']).describe(
    'How a row becomes an event. Every column not named here becomes a property.',
  ),
});

export const csv = defineFileSource({
  type: 'csv',
  options: csvOptions,
  maps: declaredMaps,
  listUnheeded,
  toFindSent,
  toHideHashed: ({ mapping }) => createHideHashed(mapping),
  findUnmatched: ({ mapping }, records) => findUnmatched(mapping, records),
  knownFields: () => 'all',
  toReadOptions: ({ delimiter, encoding, mapping }) => ({
    format: 'csv',
    delimiter,
    ...(encoding === undefined ? {} : { encoding }),
    checkColumns: createCheckColumns(mapping, delimiter),
  }),
  exportName: 'CSV records of our own',
  docs: { reads: 'CSV, TSV, any one-character delimiter', notes: 'declared mapping' },
  example: 'examples/csv.yaml',
  sample: { format: 'csv', options: SAMPLE_OPTIONS, toRecord: toSampleRow },
});

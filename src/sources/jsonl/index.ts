import { z } from 'zod';
import { dropEvents, encoding } from '../common-options.ts';
import { declaredMaps } from '../declared/declared.ts';
import { findUnmatched } from '../declared/find-unmatched.ts';
import { listUnheeded, toFindSent } from '../declared/list-unheeded.ts';
import { createMappingSchema } from '../declared/options.ts';
import { SAMPLE_OPTIONS, toSampleRow } from '../declared/sample.ts';
import { createHideHashed } from '../declared/values/hide-hashed.ts';
import { defineFileSource } from '../files/define-file-source.ts';

export const jsonlOptions = z.strictObject({
  encoding,
  dropEvents,
  mapping: createMappingSchema([]).describe(
    'How a JSON record becomes an event. Every field not named here becomes a property.',
  ),
});

export const jsonl = defineFileSource({
  type: 'jsonl',
  options: jsonlOptions,
  maps: declaredMaps,
  listUnheeded,
  toFindSent,
  toHideHashed: ({ mapping }) => createHideHashed(mapping),
  findUnmatched: ({ mapping }, records) => findUnmatched(mapping, records),
  knownFields: () => 'all',
  toReadOptions: ({ encoding }) => (encoding === undefined ? {} : { encoding }),
  exportName: 'JSON records of our own',
  docs: { reads: 'JSON lines, JSON arrays', notes: 'declared mapping' },
  example: 'examples/jsonl.yaml',
  sample: { format: 'json', options: SAMPLE_OPTIONS, toRecord: toSampleRow },
});

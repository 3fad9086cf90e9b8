import { z } from 'zod';
import { dropEvents } from '../common-options.ts';
import { createDeclaredMap } from '../declared/declared.ts';
import { createMappingSchema } from '../declared/options.ts';
import { SAMPLE_OPTIONS, toSampleRow } from '../declared/sample.ts';
import { defineFileSource } from '../files/define-file-source.ts';

export const jsonlOptions = z.strictObject({
  dropEvents,
  mapping: createMappingSchema([]).describe(
    'How a JSON record becomes an event. Every field not named here becomes a property.',
  ),
});

export const jsonl = defineFileSource({
  type: 'jsonl',
  version: 1,
  options: jsonlOptions,
  createMap: createDeclaredMap,
  knownFields: () => 'all',
  exportName: 'JSON records of our own',
  docs: { reads: 'JSON lines, JSON arrays', notes: 'declared mapping' },
  example: 'examples/jsonl.yaml',
  sample: { format: 'json', options: SAMPLE_OPTIONS, toRecord: toSampleRow },
});

import { defineFileSource } from '../files/define-file-source.ts';
import { createAmplitudeMap, listAmplitudeFields } from './events.ts';
import { amplitudeOptions } from './options.ts';

export const amplitude = defineFileSource({
  type: 'amplitude',
  version: 1,
  options: amplitudeOptions,
  createMap: createAmplitudeMap,
  knownFields: listAmplitudeFields,
  exportName: 'Amplitude export',
  docs: {
    reads: 'export zip, `.json.gz` members, raw exports on S3',
    notes: 'UTC event times, web and mobile device fields, groups, revenue, sessions, user properties',
  },
  example: 'examples/amplitude.yaml',
  sample: { format: 'json', options: {}, toRecord: (event) => event },
});

import { defineFileSource } from '../files/define-file-source.ts';
import { exactIds, trimmedIds } from '../mapping/distinct-id.ts';
import { createAmplitudeMap, listAmplitudeFields } from './events.ts';
import { amplitudeOptions } from './options.ts';

export const amplitude = defineFileSource({
  type: 'amplitude',
  options: amplitudeOptions,
  maps: {
    1: (options, idFrom) => createAmplitudeMap(options, exactIds, idFrom),
    2: (options, idFrom) => createAmplitudeMap(options, trimmedIds, idFrom),
  },
  knownFields: listAmplitudeFields,
  takesViews: true,
  exportName: 'Amplitude export',
  docs: {
    reads: 'export zip, `.json.gz` members, raw exports on S3',
    notes: 'UTC event times, web and mobile device fields, groups, revenue, sessions, user properties',
  },
  example: 'examples/amplitude.yaml',
  sample: { format: 'json', options: {}, toRecord: (event) => event },
});

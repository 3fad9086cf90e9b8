import { listUnheededPlaces } from '../common-options.ts';
import { defineFileSource } from '../files/define-file-source.ts';
import { createRules1, createRules2 } from './earlier-rules.ts';
import { createAmplitudeMap } from './events.ts';
import { amplitudeOptions } from './options.ts';
import { createRules3, createRules4, createRules5 } from './properties.ts';
import { listAmplitudeFields } from './tables.ts';

export const amplitude = defineFileSource({
  type: 'amplitude',
  options: amplitudeOptions,
  maps: {
    1: (options, idFrom, onNote) => createAmplitudeMap(options, createRules1(options), idFrom, onNote),
    2: (options, idFrom, onNote) => createAmplitudeMap(options, createRules2(options), idFrom, onNote),
    3: (options, idFrom, onNote, findPlace) =>
      createAmplitudeMap(options, createRules3(options, findPlace), idFrom, onNote),
    4: (options, idFrom, onNote, findPlace) =>
      createAmplitudeMap(options, createRules4(options, findPlace), idFrom, onNote),
    5: (options, idFrom, onNote, findPlace) =>
      createAmplitudeMap(options, createRules5(options, findPlace), idFrom, onNote),
  },
  listUnheeded: listUnheededPlaces,
  knownFields: listAmplitudeFields,
  takesViews: true,
  recognize: (record) =>
    'event_type' in record && 'event_time' in record && ('amplitude_id' in record || '$insert_id' in record),
  exportName: 'Amplitude export',
  docs: {
    reads: 'export zip, `.json.gz` members, raw exports on S3',
    notes: 'UTC event times, web and mobile device fields, groups, revenue, sessions, user properties',
  },
  example: 'examples/amplitude.yaml',
  sample: { format: 'json', options: {}, toRecord: (event) => event },
});

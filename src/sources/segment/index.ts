import { defineFileSource } from '../files/define-file-source.ts';
import { createCallMaps, listCallFields } from '../segment-spec/calls.ts';
import { createListFieldFates } from '../segment-spec/field-fates.ts';
import { callOptions, listUnheededOfCalls } from '../segment-spec/options.ts';
import { isCall, isOfRudderstack } from '../segment-spec/recognize.ts';
import type { CallDialect } from '../segment-spec/rules.ts';
import { toSampleCall } from '../segment-spec/sample.ts';

/** The calls as Segment's S3 destination archives them: nothing beyond the shared spec. */
const SEGMENT: CallDialect = { source: 'segment', table: {} };

export const segment = defineFileSource({
  type: 'segment',
  options: callOptions,
  maps: createCallMaps(SEGMENT),
  listUnheeded: listUnheededOfCalls,
  knownFields: () => listCallFields(SEGMENT),
  toListFieldFates: (options) => createListFieldFates(SEGMENT, options),
  recognize: (record) => isCall(record) && !isOfRudderstack(record),
  exportName: 'Segment archive',
  docs: {
    reads: 'archives of calls as JSON lines',
    notes: 'track, page and screen become events; identify, group and alias feed persons and groups',
  },
  example: 'examples/segment.yaml',
  sample: { format: 'json', options: {}, toRecord: toSampleCall },
});

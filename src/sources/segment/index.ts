import { type SegmentOptions, segmentOptions } from '../options.ts';
import { type CallDialect, callFields, createCallMap } from '../segment-spec/calls.ts';
import type { SourceType } from '../source.ts';

/** The calls as Segment's S3 destination archives them: nothing beyond the shared spec. */
const SEGMENT: CallDialect = { source: 'segment', table: {} };

export const segment: SourceType<'segment', SegmentOptions> = {
  type: 'segment',
  version: 1,
  options: segmentOptions,
  createMap: (options) => createCallMap(SEGMENT, options),
  knownFields: () => callFields(SEGMENT),
};

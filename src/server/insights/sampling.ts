import { z } from '@hono/zod-openapi';
import type { JsonObject } from '../http/json.ts';
import { readFields, share } from './parse/fields.ts';

/** What became of a `sampling_factor`. */
export const samplingSchema = z
  .object({ asked: z.number(), used: z.literal(1), error: z.literal(0) })
  .openapi('Sampling', {
    description:
      'Of a result that a `sampling_factor` was given for: all events are counted, without an error.',
  });

const samplingFields = z.object({ sampling_factor: share });

/**
 * The share of the events that filters ask for, undefined where they do not say. Throws InsightError for what is
 * none: above 0, up to 1.
 */
export const readSamplingFactor = (filters: JsonObject): number | undefined =>
  readFields(samplingFields, filters).sampling_factor;

/** Every event is counted whatever the share that was asked for, so numbers have no error. */
export const describeSampling = (asked: number | undefined) =>
  asked === undefined ? {} : { sampling: { asked, used: 1, error: 0 } as const };

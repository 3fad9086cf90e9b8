import { z } from 'zod';
import type { JsonObject } from '../../http/json.ts';
import { unsupported } from '../insight-error.ts';
import type { CommonQuery } from '../insight-kind.ts';
import { readSamplingFactor } from '../sampling.ts';
import { given, readDates, readFields, readFilter } from './fields.ts';

const commonFields = z.object({
  properties: given(z.unknown()),
  aggregation_group_type_index: given(z.unknown()),
});

/**
 * Reads what the filters of every insight have. `filter_test_accounts` has no effect, as projects have no such
 * filters, and a `sampling_factor` is only read: results are exact. Throws InsightError.
 */
export function readCommon(filters: JsonObject): CommonQuery {
  const { properties, aggregation_group_type_index: groupType } = readFields(commonFields, filters);
  if (groupType !== undefined) {
    throw unsupported('Counting groups is not supported: count persons.', 'aggregation_group_type_index');
  }
  const samplingFactor = readSamplingFactor(filters);
  return {
    dates: readDates(filters),
    filter: readFilter(properties),
    ...(samplingFactor === undefined ? {} : { samplingFactor }),
  };
}

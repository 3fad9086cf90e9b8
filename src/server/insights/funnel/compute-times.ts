import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import type { EventScope } from '../events-store.ts';
import { wholeRange } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { FunnelData, FunnelQuery, FunnelTimes } from './model.ts';
import { type ConversionTimes, loadConversionTimes } from './store.ts';

/** How long persons took from one step to another. */
export async function computeTimes(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  query: FunnelQuery,
  range: DateRange,
): Promise<FunnelData> {
  const times = await loadConversionTimes(tx, steps, scope, wholeRange(range), query);
  return { insight: 'FUNNELS', shown: 'time_to_convert', result: shapeTimes(times) };
}

/** Every bin from the first person to the last, empty ones among them. */
function shapeTimes(times: ConversionTimes | undefined): FunnelTimes {
  if (times === undefined) return { bins: [], bin_width: 0, average_conversion_time: null };
  const { low, width, average, bins } = times;
  const persons = new Map(bins);
  const last = Math.max(...persons.keys());
  return {
    bins: Array.from({ length: last + 1 }, (_, bin) => [low + bin * width, persons.get(bin) ?? 0]),
    bin_width: width,
    average_conversion_time: average,
  };
}

import type { Manifest } from '../../../config/manifest/manifest.ts';
import { formatCount } from './text-table.ts';

/** What may change between two runs of a migration: limits, key by name, approval. */
export function renderTerms({ limits, destination, approval }: Manifest): string {
  const { eventsPerMinute, requestsInFlight, batch } = limits;
  return [
    eventsPerMinute === undefined
      ? 'no limit of events a minute'
      : `${formatCount(eventsPerMinute)} events a minute`,
    `${formatCount(requestsInFlight)} requests in flight`,
    `batches of ${formatCount(batch.events)} events`,
    ...(destination ? [`key ${destination.apiKey}`] : []),
    ...(destination?.acceptance ? [`acceptance ${JSON.stringify(destination.acceptance)}`] : []),
    ...(approval ? [`approval "${approval.reference}"`] : []),
  ].join(', ');
}

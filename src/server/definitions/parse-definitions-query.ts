import type { DefinitionFilter, DefinitionOrder } from './store.ts';

const ORDERS: readonly DefinitionOrder[] = ['name', '-name', 'last_seen_at', '-last_seen_at'];
/** More words than this narrow nothing. */
const MAX_WORDS = 20;

/** What is not known counts as not given, as in every list of the service. */
export function parseDefinitionsQuery(query: {
  readonly search?: string | undefined;
  readonly event_type?: string | undefined;
  readonly ordering?: string | undefined;
}): DefinitionFilter {
  const words = (query.search ?? '').split(/\s+/).filter((word) => word !== '');
  return {
    words: words.slice(0, MAX_WORDS),
    kind:
      query.event_type === 'event_custom' ? 'custom' : query.event_type === 'event_posthog' ? 'own' : 'all',
    order: ORDERS.find((order) => order === query.ordering) ?? '-last_seen_at',
  };
}

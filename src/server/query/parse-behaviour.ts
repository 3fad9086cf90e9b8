import { invalidInput } from '../http/errors.ts';
import { type JsonObject, toText } from '../http/json.ts';
import type { BehaviourFilter, Comparison, FilterGroup, TimeSpan, TimeUnit } from './filter.ts';
import { idOf, isNegated, type Malformed, malformed, WHERE_ACTIONS_ARE, wholeNumber } from './item-fields.ts';
import { storable } from './storable.ts';

interface BehaviourContext {
  readonly attr: string;
  readonly parseEventFilter: (given: unknown) => FilterGroup;
}

const UNITS: readonly TimeUnit[] = ['hour', 'day', 'week', 'month', 'year'];
const MAX_UNITS = 10_000;

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ['exact', 'eq'],
  ['eq', 'eq'],
  ['gt', 'gt'],
  ['gte', 'gte'],
  ['lt', 'lt'],
  ['lte', 'lte'],
]);

/** `performed_event` and `performed_event_multiple`, the kinds of behaviour that can be asked here. */
export function parseBehaviour(item: JsonObject, context: BehaviourContext): BehaviourFilter | Malformed {
  const { value: kind } = item;
  if (kind !== 'performed_event' && kind !== 'performed_event_multiple') {
    throw invalidInput(`Behaviour "${toText(kind ?? null).slice(0, 60)}" is not supported.`, context.attr);
  }
  const did = parseDeed(item, context.attr);
  if ('kind' in did) return did;
  const window = parseWindow(item);
  if (window === undefined) return malformed('A behaviour takes a time_value above 0 and a time_interval.');
  const behaviour = {
    kind: 'behaviour',
    did,
    eventFilter: context.parseEventFilter(item['event_filters']),
    window,
    negated: isNegated(item),
  } as const;
  if (kind === 'performed_event') return behaviour;
  const comparison = COMPARISONS.get(toText(item['operator'] ?? 'gte'));
  const count = wholeNumber(item['operator_value']);
  if (comparison === undefined) return malformed('The operator of a behaviour is gte, gt, lte, lt or eq.');
  if (count === undefined) return malformed('The operator_value of a behaviour must be a whole number.');
  return { ...behaviour, times: { comparison, count } };
}

/** One that cannot be read is refused, not left out, as one of cohorts is. */
function parseDeed({ key, event_type: type }: JsonObject, attr: string): BehaviourFilter['did'] | Malformed {
  if (type === 'actions') {
    const actionId = idOf(key);
    if (actionId !== undefined) return { actionId };
    throw invalidInput(
      `The key of a behaviour of actions is the id of an action, a whole number. ${WHERE_ACTIONS_ARE}`,
      attr,
    );
  }
  if (type !== undefined && type !== null && type !== 'events') {
    throw invalidInput('The event_type of a behaviour is events or actions.', attr);
  }
  if (typeof key !== 'string' || key === '') return malformed('The key of a behaviour must name an event.');
  return { event: storable(key, attr) };
}

/** `time_value` and `time_interval`, or `explicit_datetime` such as `-30d`. */
function parseWindow(item: JsonObject): TimeSpan | undefined {
  const relative = /^-?(\d{1,5})([hdwmy])$/.exec(toText(item['explicit_datetime'] ?? ''));
  const count = relative ? Number(relative[1]) : wholeNumber(item['time_value']);
  const unit = relative
    ? UNITS.find((name) => name.startsWith(relative[2] ?? ''))
    : UNITS.find((name) => name === item['time_interval']);
  return unit === undefined || count === undefined || count === 0 || count > MAX_UNITS
    ? undefined
    : { count, unit };
}

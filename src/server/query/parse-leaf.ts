import { stringifyJson } from '../../lib/json/stringify-json.ts';
import { type ApiError, invalidInput } from '../http/errors.ts';
import { isJsonObject, type JsonObject, toText } from '../http/json.ts';
import { checkPattern } from './check-pattern.ts';
import {
  type Filter,
  type FilterGroup,
  NEGATIONS,
  type Operator,
  type PropertyFilter,
  type Scalar,
  TESTS,
} from './filter.ts';
import type { Bounds } from './filter-bounds.ts';
import {
  isNegated,
  isScalar,
  type Malformed,
  malformed,
  WHERE_COHORTS_ARE,
  wholeNumber,
} from './item-fields.ts';
import { parseBehaviour } from './parse-behaviour.ts';
import { storable } from './storable.ts';

export interface LeafContext {
  readonly defaultType: string;
  readonly attr: string;
  readonly anyPattern: boolean;
  readonly bounds: Bounds;
  /** Reads the filter of the events that a behaviour is about. */
  readonly parseEventFilter: (given: unknown) => FilterGroup;
}

/** One item: a property, a cohort or a behaviour. */
export function parseLeaf(item: unknown, context: LeafContext): Filter | Malformed {
  if (!isJsonObject(item)) return malformed('A filter must be an object.');
  const type = item['type'] ?? context.defaultType;
  switch (type) {
    case 'event':
      return parseProperty(item, { owner: 'event' }, context);
    case 'person':
      return parseProperty(item, { owner: 'person' }, context);
    case 'group': {
      const index = wholeNumber(item['group_type_index']);
      if (index === undefined || index > 4) return malformed('group_type_index must be from 0 to 4.');
      return parseProperty(item, { owner: 'group', groupTypeIndex: index }, context);
    }
    case 'cohort':
    case 'static-cohort':
    case 'precalculated-cohort':
      return parseCohort(item, context);
    case 'behavioral':
      return parseBehaviour(item, context);
    default:
      if (typeof type !== 'string') return malformed('The type of a filter must be text.');
      throw invalidInput(`Filters of type "${cut(type)}" are not supported.`, context.attr);
  }
}

/** One that cannot be read is refused, not left out: without it every number would be of other persons. */
function parseCohort(item: JsonObject, { attr }: LeafContext): Filter {
  const { value, operator } = item;
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (given.length === 0) throw noCohortId('an empty list', attr);
  const members = given.map((one) => {
    const id = wholeNumber(one);
    if (id === undefined || id >= 2 ** 31) throw noCohortId(describe(one), attr);
    return { kind: 'cohort', cohortId: id, negated: false } as const;
  });
  const negated = isNegated(item) !== (operator === 'not_in' || operator === 'is_not');
  const [only] = members;
  if (only !== undefined && members.length === 1) return { ...only, negated };
  // In none of them: in not this one, and not that one.
  return {
    kind: 'group',
    operator: negated ? 'and' : 'or',
    members: members.map((member) => ({ ...member, negated })),
  };
}

const describe = (value: unknown): string =>
  value === undefined ? 'nothing' : isScalar(value) ? `"${cut(toText(value))}"` : cut(stringifyJson(value));

const noCohortId = (given: string, attr: string): ApiError =>
  invalidInput(
    `The value of a cohort filter is the id of a cohort, a whole number, or a list of ids, not ${given}. ${WHERE_COHORTS_ARE}`,
    attr,
  );

function parseProperty(
  item: JsonObject,
  owner: Pick<PropertyFilter, 'owner' | 'groupTypeIndex'>,
  context: LeafContext,
): Filter | Malformed {
  const key = item['key'];
  if (typeof key !== 'string' && typeof key !== 'number') return malformed('The key of a filter is missing.');
  const operator = parseOperator(item['operator'], context.attr);
  const values = parseValues(item['value'], operator, context);
  if ('kind' in values) return values;
  if (operator.endsWith('regex') && !context.anyPattern) {
    for (const value of values) checkPattern(toText(value), context.attr);
  }
  const negated = isNegated(item);
  return { kind: 'property', ...owner, key: storable(String(key), context.attr), operator, values, negated };
}

const OPERATORS: ReadonlySet<string> = new Set([...TESTS, ...Object.keys(NEGATIONS)]);

export const isOperator = (name: string): name is Operator => OPERATORS.has(name);

/** Other names for the same. Relative dates are known by their value. */
const ALIASES: ReadonlyMap<string, Operator> = new Map([
  ['in', 'exact'],
  ['not_in', 'is_not'],
  ['icontains_multi', 'icontains'],
  ['not_icontains_multi', 'not_icontains'],
  ['is_relative_date_before', 'is_date_before'],
  ['is_relative_date_after', 'is_date_after'],
]);

function parseOperator(given: unknown, attr: string): Operator {
  if (given === undefined || given === null || given === '') return 'exact';
  const name = typeof given === 'string' ? (ALIASES.get(given) ?? given) : '';
  if (isOperator(name)) return name;
  throw invalidInput(`Operator "${cut(toText(given))}" is not supported.`, attr);
}

/** Enough for exact lists of ids; what is searched for in every text is bounded more tightly. */
const MAX_SEARCHED = 100;

function parseValues(
  given: unknown,
  operator: Operator,
  { attr, bounds }: LeafContext,
): readonly Scalar[] | Malformed {
  if (operator === 'is_set' || operator === 'is_not_set') return [];
  if (given === undefined || given === null) return malformed('The value of a filter is missing.');
  const values = (Array.isArray(given) ? given : [given]).filter((value) => value !== null);
  if (!values.every(isScalar)) return malformed('The value of a filter must be text, a number or a boolean.');
  if (operator.endsWith('between') && values.length !== 2) return malformed('A range takes two values.');
  if (values.length > MAX_SEARCHED && operator !== 'exact' && operator !== 'is_not') {
    throw invalidInput(`Operator "${operator}" takes ${MAX_SEARCHED} values at most.`, attr);
  }
  return values.map((value) => {
    bounds.countValue(toText(value).length);
    return typeof value === 'string' ? storable(value, attr) : value;
  });
}

const cut = (text: string) => text.slice(0, 60);

import { type ApiError, invalidInput } from '../http/errors.ts';
import { isJsonObject, type JsonObject } from '../http/json.ts';
import { parseSafely } from '../http/safe-json.ts';
import { type Filter, type FilterGroup, NO_FILTER, type Owner } from './filter.ts';
import { createBounds } from './filter-bounds.ts';
import { isOperator, type LeafContext, parseLeaf } from './parse-leaf.ts';

export interface ParseOptions {
  /** Whose property an item without a `type` means. */
  readonly defaultType: Owner;
  /**
   * The parameter, for error messages.
   * @default 'properties'
   */
  readonly attr?: string;
  /** Refuses an item that cannot be read, where a request's filter leaves it out as the service does. */
  readonly strict?: boolean;
  /**
   * Takes a regular expression that cannot be searched with, which nothing fits: of what is stored, and of flags.
   * Others are refused.
   */
  readonly anyPattern?: boolean;
}

/**
 * Reads a filter in every form that clients send, as JSON text or as a value:
 *
 *     [{key, value, operator?, type?}, …]            all of them
 *     {type: 'AND' | 'OR', values: [item or group]}  nested as deep as needed
 *     {"<key>__<operator>": value}                   the oldest form: all of them
 *
 * Nothing, an empty text among it, is no filter. Throws an ApiError (400) for what cannot be read at all,
 * for types and operators that this service does not have, and for too large a filter.
 */
export function parseFilter(given: unknown, options: ParseOptions): FilterGroup {
  return parseDocument(typeof given === 'string' ? parseText(given) : given, createContext(options));
}

function parseDocument(document: unknown, context: Context): FilterGroup {
  if (document === undefined || document === null) return NO_FILTER;
  if (Array.isArray(document)) return group('and', parseMembers(document, context, 1));
  if (!isJsonObject(document)) throw unparsable();
  if (isGroup(document)) return parseGroup(document, context, 1);
  if ('key' in document) return group('and', parseMembers([document], context, 1));
  return group('and', parseMembers(Object.entries(document).map(parseEntry), context, 1));
}

const unparsable = (): ApiError => invalidInput('Properties are unparsable!');

function parseText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return parseSafely(text);
  } catch {
    throw unparsable();
  }
}

const group = (operator: 'and' | 'or', members: readonly Filter[]): FilterGroup => ({
  kind: 'group',
  operator,
  members,
});

const isGroup = (item: JsonObject): boolean => Array.isArray(item['values']) && !('key' in item);

function parseGroup(item: JsonObject, context: Context, depth: number): FilterGroup {
  const operator = item['type'] ?? 'AND';
  const values = item['values'];
  if (operator !== 'AND' && operator !== 'OR') {
    throw invalidInput('The type of a group must be AND or OR.', context.attr);
  }
  return group(
    operator === 'OR' ? 'or' : 'and',
    Array.isArray(values) ? parseMembers(values, context, depth) : [],
  );
}

/** Members that can be read. Groups that ask for nothing go: they would make an OR match everything. */
function parseMembers(items: readonly unknown[], context: Context, depth: number): Filter[] {
  const members: Filter[] = [];
  for (const item of items) {
    context.bounds.countItem(depth);
    if (isJsonObject(item) && isGroup(item)) {
      const inner = parseGroup(item, context, depth + 1);
      if (inner.members.length > 0) members.push(inner);
      continue;
    }
    const leaf = parseLeaf(item, context);
    if (leaf.kind !== 'malformed') members.push(leaf);
    else if (context.strict) throw invalidInput(leaf.reason, context.attr);
  }
  return members;
}

interface Context extends LeafContext {
  readonly strict: boolean;
}

function createContext({
  defaultType,
  attr = 'properties',
  strict = false,
  anyPattern = false,
}: ParseOptions): Context {
  const bounds = createBounds(attr);
  const parseEventFilter = (given: unknown): FilterGroup =>
    parseDocument(given, { ...context, defaultType: 'event' });
  const context: Context = { defaultType, attr, strict, anyPattern, bounds, parseEventFilter };
  return context;
}

/** `utm__source__icontains` → key `utm__source`, operator `icontains`. */
function parseEntry([name, value]: [string, unknown]): JsonObject {
  const at = name.lastIndexOf('__');
  const operator = name.slice(at + 2);
  return at > 0 && isOperator(operator) ? { key: name.slice(0, at), operator, value } : { key: name, value };
}

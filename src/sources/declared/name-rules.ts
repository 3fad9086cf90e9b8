import { asFields, type Fields } from '../mapping/table.ts';

/** What the manifest says of a column or of a path into nested objects. */
export interface NameRule {
  readonly path: string;
  /** Undefined: left behind. */
  readonly to: string | undefined;
}

/** The rules that may still apply at one level of a record, and what is known of the names found there. */
export interface RuleLevel {
  readonly rules: readonly NameRule[];
  readonly known: Map<string, RuleStep>;
}

/** What the rules say of one name. */
export interface RuleStep {
  readonly isExcluded: boolean;
  readonly to: string | undefined;
  /** Rules for what is inside the value; undefined when there are none. */
  readonly below: RuleLevel | undefined;
}

export const createRuleLevel = (rules: readonly NameRule[]): RuleLevel => ({ rules, known: new Map() });

/** Objects may have any number of names, such as ids used as keys. */
const KNOWN_NAMES = 5_000;

export function stepInto(level: RuleLevel, name: string): RuleStep {
  let step = level.known.get(name);
  if (!step) {
    if (level.known.size >= KNOWN_NAMES) level.known.clear();
    step = decide(level.rules, name);
    level.known.set(name, step);
  }
  return step;
}

/** A name that holds dots itself is matched like any other. */
function decide(rules: readonly NameRule[], name: string): RuleStep {
  const own = rules.filter(({ path }) => path === name);
  const below = listBelow(rules, name);
  return {
    isExcluded: own.some(({ to }) => to === undefined),
    to: own.find(({ to }) => to !== undefined)?.to,
    below: below.length === 0 ? undefined : createRuleLevel(below),
  };
}

/** The rules for what is inside `name`, as paths from there. */
export const listBelow = (rules: readonly NameRule[], name: string): NameRule[] =>
  rules
    .filter(({ path }) => path.startsWith(`${name}.`))
    .map(({ path, to }) => ({ path: path.slice(name.length + 1), to }));

/**
 * Whether fields inside lists are renamed where they are. `rename_all`: what has the new name already becomes
 * `source_<name>`, as a column does; else it is written over.
 */
export type InLists = 'leave' | 'rename' | 'rename_all';

/**
 * The value without what is excluded; a renamed field is taken out and given to `lift`. Reaches into lists,
 * where a field may occur many times: it is excluded in all of them, and not taken out. Changes nothing in place.
 */
export function applyRules(
  level: RuleLevel,
  value: unknown,
  lift: ((name: string, value: unknown) => void) | undefined,
  inLists: InLists = 'leave',
): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => applyRules(level, each, undefined, inLists));
  const fields = asFields(value);
  if (!fields) return value;
  const kept: Record<string, unknown> = {};
  const contested = new Set<string>();
  for (const name of Object.keys(fields)) {
    const { isExcluded, to, below } = stepInto(level, name);
    if (isExcluded) continue;
    const inner = below ? applyRules(below, fields[name], lift, inLists) : fields[name];
    const own = inLists === 'leave' ? name : (to ?? name);
    if (to !== undefined && lift) lift(to, inner);
    else if (inLists === 'rename_all' && Object.hasOwn(kept, own)) contested.add(own);
    else define(kept, own, inner);
  }
  for (const name of contested) settleInList(kept, name, level, fields, inLists);
  return kept;
}

/** The name goes to what is renamed to it, in the order of the manifest; nothing that has a value is lost. */
function settleInList(
  kept: Record<string, unknown>,
  claimed: string,
  level: RuleLevel,
  fields: Fields,
  inLists: InLists,
): void {
  const order = level.rules.map(({ path }) => path);
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const [first, ...others] = Object.keys(fields)
    .filter((name) => !stepInto(level, name).isExcluded && (stepInto(level, name).to ?? name) === claimed)
    .sort((a, b) => rank(a) - rank(b))
    .map((name) => {
      const { below } = stepInto(level, name);
      return below ? applyRules(below, fields[name], undefined, inLists) : fields[name];
    })
    .sort((a, b) => Number(a === null) - Number(b === null));
  define(kept, claimed, first);
  for (const value of others) {
    if (value === null || Object.is(value, first)) continue;
    let free = claimed;
    while (Object.hasOwn(kept, free) || Object.hasOwn(fields, free)) free = `source_${free}`;
    define(kept, free, value);
  }
}

/** Whether a path leads to something in a value. */
export function isReached(path: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.some((each) => isReached(path, each));
  const fields = asFields(value);
  if (!fields) return false;
  if (Object.hasOwn(fields, path)) return true;
  return (
    path.includes('.') &&
    Object.keys(fields).some(
      (name) => path.startsWith(`${name}.`) && isReached(path.slice(name.length + 1), fields[name]),
    )
  );
}

/** Assigning to `__proto__` would set no field. */
function define(fields: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') fields[name] = value;
  else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
}

export const isEmptyObject = (fields: Fields): boolean => Object.keys(fields).length === 0;

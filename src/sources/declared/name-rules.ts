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
 * The value without what is excluded; a renamed field is taken out and given to `lift`. Reaches into lists,
 * where a field may occur many times: it is excluded in all of them, and not taken out; `renamesInLists` says
 * whether it is renamed where it is. Changes nothing in place.
 */
export function applyRules(
  level: RuleLevel,
  value: unknown,
  lift: ((name: string, value: unknown) => void) | undefined,
  renamesInLists = false,
): unknown {
  if (Array.isArray(value))
    return value.map((each: unknown) => applyRules(level, each, undefined, renamesInLists));
  const fields = asFields(value);
  if (!fields) return value;
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const { isExcluded, to, below } = stepInto(level, name);
    if (isExcluded) continue;
    const inner = below ? applyRules(below, fields[name], lift, renamesInLists) : fields[name];
    if (to !== undefined && lift) lift(to, inner);
    else define(kept, renamesInLists ? (to ?? name) : name, inner);
  }
  return kept;
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

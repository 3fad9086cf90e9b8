import { canonicalJson } from '../lib/json/canonical-json.ts';
import { quote } from '../lib/json/quote.ts';

/** The keys of an object, and what of its text follows from them. */
interface Shape {
  readonly keys: readonly string[];
  /** Sorted, with their text in front of a value. */
  readonly members: readonly { readonly key: string; readonly label: string }[];
}

/** By number of keys and the first one; of a project there are few. */
const shapes = new Map<string, Shape>();
const SHAPES_KEPT = 1_000;

/**
 * The canonical JSON text of the values of one record: keys sorted, those that are undefined left out. The
 * properties of most persons of a project have the same names in the same order, so these are sorted once.
 */
export function renderSnapshot(values: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(values);
  let text = '';
  for (const { key, label } of getShape(keys).members) {
    const value = values[key];
    if (value === undefined) continue;
    text += text === '' ? `{${label}` : `,${label}`;
    text += renderValue(value);
  }
  return text === '' ? '{}' : `${text}}`;
}

function getShape(keys: readonly string[]): Shape {
  const name = `${keys.length} ${keys[0]}`;
  const known = shapes.get(name);
  if (known && isSame(keys, known.keys)) return known;
  if (shapes.size === SHAPES_KEPT) shapes.clear();
  const shape = createShape(keys);
  shapes.set(name, shape);
  return shape;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}

const createShape = (keys: readonly string[]): Shape => ({
  keys,
  members: [...keys].sort().map((key) => ({ key, label: `${JSON.stringify(key)}:` })),
});

const renderValue = (value: unknown): string =>
  typeof value === 'string' ? quote(value) : canonicalJson(value);

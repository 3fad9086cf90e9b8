/**
 * A piece of HTML. Its text can come from the `markup` tag alone, that is from this program's source:
 * values, names that strangers chose among them, are escaped.
 */
class Fragment {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static of(texts: readonly string[], values: readonly Value[]): Fragment {
    return new Fragment(
      texts
        .map((text, index) => text + (index < values.length ? Fragment.#show(values[index]) : ''))
        .join(''),
    );
  }

  static #show(value: Value): string {
    if (value instanceof Fragment) return value.#text;
    if (Array.isArray(value)) return value.map((one: Value) => Fragment.#show(one)).join('');
    return value === undefined ? '' : escapeText(String(value));
  }

  toString(): string {
    return this.#text;
  }
}

/** Only the type leaves this file: nobody else can make one from text. */
export type Markup = Fragment;

type Value = Markup | string | number | undefined | readonly Value[];

export const markup = (texts: TemplateStringsArray, ...values: readonly Value[]): Markup =>
  Fragment.of(texts, values);

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '');

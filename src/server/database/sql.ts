import type { Queryable, SqlValue, StatementOptions } from './db.ts';

/**
 * A piece of a statement with its parameters, joined into larger pieces and numbered only when it is run.
 * Its text can come from the `sql` tag alone, that is from this program's source: values, user text among
 * them, can only become parameters.
 */
class Fragment {
  /** One more than there are parameters, which go between the texts. */
  readonly #texts: readonly string[];
  readonly #params: readonly SqlValue[];

  private constructor(texts: readonly string[], params: readonly SqlValue[]) {
    this.#texts = texts;
    this.#params = params;
  }

  static of(texts: readonly string[], values: readonly (Fragment | SqlValue)[]): Fragment {
    const all = [texts[0] ?? ''];
    const params: SqlValue[] = [];
    const extend = (text: string) => all.push((all.pop() ?? '') + text);
    values.forEach((value, index) => {
      if (value instanceof Fragment) {
        extend(value.#texts[0] ?? '');
        for (const text of value.#texts.slice(1)) all.push(text);
        for (const param of value.#params) params.push(param);
      } else {
        params.push(value);
        all.push('');
      }
      extend(texts[index + 1] ?? '');
    });
    return new Fragment(all, params);
  }

  /** The statement as a driver takes it, parameters as `$1`, `$2`, … */
  toQuery(): { readonly text: string; readonly params: readonly SqlValue[] } {
    const text = this.#texts.reduce((before, after, index) => `${before}$${index}${after}`);
    return { text, params: this.#params };
  }

  /** The same in pieces: a parameter goes between each two texts. */
  toParts(): { readonly texts: readonly string[]; readonly params: readonly SqlValue[] } {
    return { texts: this.#texts, params: this.#params };
  }
}

/** Only the type leaves this file: nobody else can make one from text. */
export type Sql = Fragment;

/** Fragments are spliced in, every other value becomes a parameter: sql`p.id = ${id}::integer`. */
export function sql(texts: TemplateStringsArray, ...values: readonly (Sql | SqlValue)[]): Sql {
  return Fragment.of(texts, values);
}

export function joinSql(
  parts: readonly Sql[],
  separator: ', ' | ' and ' | ' or ' | ' + ' | ' ' | ' union all ',
): Sql {
  const between = parts.map((_, index) => (index === 0 ? '' : separator));
  return Fragment.of([...between, ''], parts);
}

/** All hold; true when there are none. */
export const allOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : sql`(${joinSql(conditions, ' and ')})`;

/** One holds at least; false when there are none. */
export const anyOf = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`false` : sql`(${joinSql(conditions, ' or ')})`;

/** Runs a statement. The caller asserts the shape `R` of its rows, whose names are in camel case. */
export function runSql<R>(db: Queryable, statement: Sql, options?: StatementOptions): Promise<R[]> {
  const { text, params } = statement.toQuery();
  return db.query<R>(text, params, options);
}

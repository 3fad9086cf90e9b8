import Papa from 'papaparse';

/** What makes a CSV a CSV here: quotes are `"`, doubled inside. Line ends are `\n`, a `\r` before it is not data. */
const RULES = { newline: '\n', quoteChar: '"', escapeChar: '"' } as const;

/** Reads one row without its line end; undefined when its quotes make no sense. */
export function createRowParser(delimiter: string): (text: string) => readonly string[] | undefined {
  const parser = new Papa.Parser({ ...RULES, delimiter });
  return (text) => {
    if (!text.includes('"')) return text.split(delimiter);
    const { data, errors }: RowResult = parser.parse(text, 0, false);
    const [row] = data;
    return data.length === 1 && errors.length === 0 ? row : undefined;
  };
}

/** Calls back with the end of each complete row of a text; `stop` ends the search before that row. */
export function findRows(
  text: string,
  delimiter: string,
  onRow: (end: number, isFaulty: boolean) => 'go_on' | 'stop',
): { readonly restIsFaulty: boolean } {
  let stopped = false;
  const parser = new Papa.Parser({
    ...RULES,
    delimiter,
    step: ({ meta, errors }) => {
      if (onRow(meta.cursor, errors.length > 0) === 'go_on') return;
      stopped = true;
      parser.abort();
    },
  });
  const rest: RowResult = parser.parse(text, 0, true);
  return { restIsFaulty: !stopped && rest.errors.length > 0 };
}

interface RowResult {
  readonly data: readonly (readonly string[])[];
  readonly errors: readonly unknown[];
}

const DELIMITERS = [',', '\t', ';', '|'];

/** The delimiter that the header row uses most, quoted cells aside. */
export function guessDelimiter(headerRow: string): string {
  const bare = headerRow.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Column names, each once: the second `name` is `name_2`, an empty one `column_<position>`. */
export function uniqueNames(header: readonly string[]): string[] {
  const taken = new Set(header);
  const used = new Set<string>();
  return header.map((cell, index) => {
    const name = cell.trim() === '' ? `column_${index + 1}` : cell;
    let unique = name;
    for (let number = 2; used.has(unique) || (unique !== name && taken.has(unique)); number += 1) {
      unique = `${name}_${number}`;
    }
    used.add(unique);
    return unique;
  });
}

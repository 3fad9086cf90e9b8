import { quoteName } from '../../lib/preview.ts';
import { suggest } from '../../lib/suggest.ts';
import type { DeclaredMapping } from '../declared/options.ts';

const NAMES_SHOWN = 12;
const NAME_SHOWN = 40;
const DELIMITERS = [',', ';', '\t', '|'];
/** Excel reads the delimiter from a line `sep=;` in front. Split by it, that ends behind the `=`. */
const FOR_EXCEL = /^sep=.?$/i;

/**
 * Creates the check of a CSV's header against a mapping. It returns what the header lacks, as the end of
 * a sentence that begins with "the header row". Only event, person, time and key are required: without
 * them a record is no event, or another one. Any other column may be missing in some files of an export. Of a path,
 * the column of JSON text is there that it leads into.
 */
export function createCheckColumns(
  mapping: DeclaredMapping,
  delimiter: string,
): (names: readonly string[]) => string | undefined {
  const required = listRequiredColumns(mapping);
  const texts = [...mapping.jsonColumns, ...(mapping.unnest ? [mapping.unnest.column] : [])];
  return (names) => {
    const known = new Set(names);
    const isThere = (column: string) =>
      known.has(column) || texts.some((text) => column.startsWith(`${text}.`) && known.has(text));
    const missing = required.filter(({ anyOf }) => !anyOf.some(isThere));
    if (missing.length === 0) return undefined;
    const wanted = missing.map(({ setting, anyOf }) => {
      const near = anyOf.map((column) => suggest(column, names)).find((name) => name !== undefined);
      const hint = near === undefined ? '' : `; did you mean ${quoteName(near, NAME_SHOWN)}?`;
      return `has no column ${anyOf.map((column) => `"${column}"`).join(' or ')}, which ${setting} names${hint}`;
    });
    return `${wanted.join(', and ')}${wanted.at(-1)?.endsWith('?') ? '' : '.'} ${describeHeader(names, delimiter)}`;
  };
}

/** One column at least of each must exist. */
function listRequiredColumns({ event, distinctId, timestamp, key }: DeclaredMapping) {
  return [
    ...('column' in event ? [{ setting: 'mapping.event', anyOf: [event.column].flat() }] : []),
    { setting: 'mapping.distinctId', anyOf: [distinctId.column].flat() },
    { setting: 'mapping.timestamp', anyOf: [timestamp.column].flat() },
    ...(key ?? []).map((column) => ({ setting: 'mapping.key', anyOf: [column] })),
  ];
}

function describeHeader(names: readonly string[], delimiter: string): string {
  const [first = ''] = names;
  if (FOR_EXCEL.test(first))
    return `It is "${first}", a line for Excel: remove it, so that the header row is the first one`;
  if (names.length === 1) {
    const other = DELIMITERS.find((each) => each !== delimiter && first.includes(each));
    const looks = other === undefined ? '' : ` It looks divided by ${nameDelimiter(other)}.`;
    return `It is one lone column, ${quoteName(first, NAME_SHOWN)}: is source.delimiter, ${nameDelimiter(delimiter)}, right?${looks}`;
  }
  const shown = names.slice(0, NAMES_SHOWN).map((name) => quoteName(name, NAME_SHOWN));
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return `It has ${shown.join(', ')}${more}. Correct the mapping, or take a file that is no part of this export out of source.from`;
}

const nameDelimiter = (delimiter: string) => (delimiter === '\t' ? 'tab' : `"${delimiter}"`);

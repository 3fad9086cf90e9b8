import { suggest } from '../../lib/suggest.ts';
import type { DeclaredMapping } from '../declared/options.ts';

const NAMES_SHOWN = 12;
const NAME_SHOWN = 40;
const DELIMITERS = [',', ';', '\t', '|'];

/**
 * Makes the check of a CSV's header against a mapping: what the header lacks, as the end of a sentence
 * that begins with "the header row". Only columns without which no record can be an event, or not the
 * one it is meant to be, are asked for: event, person, time and key. All others may be missing in some
 * files of an export, and are then properties that those records do not have.
 */
export function createCheckColumns(
  mapping: DeclaredMapping,
  delimiter: string,
): (names: readonly string[]) => string | undefined {
  const required = requiredColumns(mapping);
  return (names) => {
    const known = new Set(names);
    const missing = required.filter(({ anyOf }) => !anyOf.some((column) => known.has(column)));
    if (missing.length === 0) return undefined;
    const wanted = missing.map(({ setting, anyOf }) => {
      const near = anyOf.map((column) => suggest(column, names)).find((name) => name !== undefined);
      const hint = near === undefined ? '' : `; did you mean "${shortened(near)}"?`;
      return `has no column ${anyOf.map((column) => `"${column}"`).join(' or ')}, which ${setting} names${hint}`;
    });
    return `${wanted.join(', and ')}${wanted.at(-1)?.endsWith('?') ? '' : '.'} ${shownHeader(names, delimiter)}`;
  };
}

/** Of each, one column at least must be there. */
function requiredColumns({ event, distinctId, timestamp, key }: DeclaredMapping) {
  return [
    ...('column' in event ? [{ setting: 'mapping.event', anyOf: [event.column].flat() }] : []),
    { setting: 'mapping.distinctId', anyOf: [distinctId.column].flat() },
    { setting: 'mapping.timestamp', anyOf: [timestamp.column].flat() },
    ...(key ?? []).map((column) => ({ setting: 'mapping.key', anyOf: [column] })),
  ];
}

function shownHeader(names: readonly string[], delimiter: string): string {
  const [first = ''] = names;
  if (names.length === 1) {
    const other = DELIMITERS.find((each) => each !== delimiter && first.includes(each));
    const looks = other === undefined ? '' : ` It looks divided by ${inWords(other)}.`;
    return `It is one lone column, "${shortened(first)}": is source.delimiter, ${inWords(delimiter)}, right?${looks}`;
  }
  const shown = names.slice(0, NAMES_SHOWN).map((name) => `"${shortened(name)}"`);
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  return `It has ${shown.join(', ')}${more}. Mend the mapping, or take a file that is no part of this export out of source.from`;
}

const shortened = (name: string) => (name.length > NAME_SHOWN ? `${name.slice(0, NAME_SHOWN - 1)}…` : name);
const inWords = (delimiter: string) => (delimiter === '\t' ? 'tab' : `"${delimiter}"`);

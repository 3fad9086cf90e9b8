import type { DeclaredMapping } from '../options.ts';

/** Columns whose text is JSON that some of the paths lead into: it is read first. */
const listTextsAbove = (columns: readonly string[], paths: readonly string[]): string[] =>
  columns.filter((column) => paths.some((path) => path.startsWith(`${column}.`)));

const listTyped = ({ types = {} }: DeclaredMapping): string[] =>
  Object.keys(types).filter((path) => types[path] === 'json');

const listTexts = (mapping: DeclaredMapping): string[] => [
  ...mapping.jsonColumns,
  ...(mapping.unnest ? [mapping.unnest.column] : []),
  ...listTyped(mapping),
];

/**
 * Text that is read before values in it are hashed: also where it would be read later, for another reason, and what is
 * spread is in it. The text of a spread column itself is read with its place.
 */
function listTextsToHash(mapping: DeclaredMapping, columns: readonly string[]): string[] {
  const later = [...listTextsToChange(mapping), ...(mapping.unnest ? [mapping.unnest.column] : [])];
  const ofSpread = listTextsAbove(later, mapping.spreadColumns);
  // Fields of a spread column are named with its name or without.
  const withSpread = (paths: readonly string[]) => [
    ...paths,
    ...mapping.spreadColumns.flatMap((spread) => paths.map((path) => `${spread}.${path}`)),
  ];
  const typed = withSpread(listTyped(mapping)).filter((path) => !mapping.spreadColumns.includes(path));
  const typedTexts = listTextsAbove(typed, withSpread(columns));
  const aroundTyped = listTextsAbove(mapping.jsonColumns, typedTexts);
  const texts = listTextsAbove(listTexts(mapping), columns);
  return [...new Set([...texts, ...aroundTyped, ...typedTexts, ...ofSpread])];
}

/** Text that is read before values in it get a meaning or a type. */
export const listTextsToChange = (mapping: DeclaredMapping): string[] =>
  listTextsAbove(listTexts(mapping), [
    ...Object.keys(mapping.values ?? {}),
    ...Object.keys(mapping.types ?? {}),
  ]);

/** What an event is made of: the paths that each of these keys of a mapping names. */
const listFeeding = ({
  event,
  distinctId,
  anonymousId,
  timestamp,
  uuid,
  key,
  ...mapping
}: DeclaredMapping) => ({
  event: 'column' in event ? [event.column].flat() : [],
  distinctId: [distinctId.column].flat(),
  anonymousId: [anonymousId?.column ?? []].flat(),
  timestamp: [timestamp.column].flat(),
  uuid: [uuid?.column ?? []].flat(),
  key: key ?? [],
  groups: mapping.groups.flatMap(({ column }) => column),
  unnest: mapping.unnest ? [mapping.unnest.column] : [],
  spreadColumns: mapping.spreadColumns,
});

/**
 * Text that is read because the name, the ids, the time or the key of an event, its groups, a list to unnest or an
 * object to spread are in it. The item of a list that is unnested takes its place by itself.
 */
const listTextsToRead = (mapping: DeclaredMapping): string[] =>
  listTextsAbove(mapping.jsonColumns, Object.values(listFeeding(mapping)).flat());

/** Text that is read before anything else is done; text within text comes after it. */
export const listTextsBefore = (mapping: DeclaredMapping, readsTexts: boolean): string[] =>
  [
    ...new Set([
      ...(mapping.hash ? listTextsToHash(mapping, mapping.hash.columns) : []),
      ...(readsTexts ? listTextsToRead(mapping) : []),
    ]),
  ].sort((a, b) => a.length - b.length);

/** The keys of a mapping whose paths lead into such text. */
export const listKeysIntoTexts = (mapping: DeclaredMapping): string[] =>
  Object.entries(listFeeding(mapping)).flatMap(([key, paths]) =>
    listTextsAbove(mapping.jsonColumns, paths).length > 0 ? [key] : [],
  );

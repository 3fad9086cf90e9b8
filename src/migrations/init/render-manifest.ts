import type { Encoding } from '../../sources/formats/decode-text.ts';
import type { ColumnGuess } from './guess-columns.ts';
import type { NumberGuess } from './guess-numbers.ts';

export interface ManifestFacts {
  readonly name: string;
  /** For `source.from`. */
  readonly from: readonly string[];
  /** What was looked at, in a sentence. */
  readonly seen: string;
  readonly type: string;
  /** Undefined for a vendor, whose mapping needs no declaration. */
  readonly table:
    | {
        readonly encoding: Encoding;
        readonly delimiter: string | undefined;
        readonly columns: ColumnGuess;
      }
    | undefined;
}

/** A manifest with a comment on whatever was guessed. Texts are quoted as JSON, which YAML reads. */
export function renderManifest({ name, from, seen, type, table }: ManifestFacts): string {
  return [
    `# Written by "backhaul init". ${seen}`,
    '# Look at what would be sent:  backhaul plan <this file>',
    '',
    `name: ${name}`,
    '',
    'source:',
    `  type: ${type}`,
    '  # Files, globs, folders or s3://bucket/prefix; paths start from the folder of this file.',
    `  from: ${quoteAll(from)}`,
    ...(table ? renderTable(table) : ['  # The zone of timestamps that carry none.', '  timezone: UTC']),
    '',
    '# Where history ends, such as when live tracking began:',
    '# window: { until: 2024-03-15 }',
    '',
    '# Without a destination, a run is a rehearsal in the bundled API.',
    '# destination:',
    '#   url: https://analytics.example.com',
    '#   apiKey: ${BACKHAUL_PROJECT_API_KEY}',
    '',
  ].join('\n');
}

function renderTable({ encoding, delimiter, columns }: NonNullable<ManifestFacts['table']>): string[] {
  const {
    timestamp,
    event,
    known,
    anonymous,
    key,
    uuid,
    groups,
    json,
    spread,
    eventNames,
    renames,
    numbers,
    otherTimes,
  } = columns;
  const people = [...known, ...anonymous];
  const [anonymousId] = known.length > 0 ? anonymous : [];
  return [
    ...(delimiter === undefined ? [] : [`  delimiter: ${delimiter === '\t' ? 'tab' : quote(delimiter)}`]),
    ...(encoding === 'utf-8'
      ? []
      : ['  # No byte order mark says so: the text makes sense in it.', `  encoding: ${encoding}`]),
    `  # ${renderZone(timestamp)}`,
    '  timezone: UTC',
    '  mapping:',
    ...('column' in event
      ? ['    # The name of each event.', `    event: { column: ${quote(event.column)} }`]
      : [
          '    # CHECK: no column names the events, so all have this name.',
          `    event: { constant: ${quote(event.constant)} }`,
        ]),
    '    # Who did it: of several columns, the first that holds an id.',
    `    distinctId: { column: ${quoteAll(people)} }`,
    ...(anonymousId === undefined
      ? []
      : [
          '    # The same person before they were known: where a record has both ids, they become one.',
          `    anonymousId: { column: ${quote(anonymousId)} }`,
        ]),
    ...(timestamp.orElse === undefined
      ? []
      : [`    # CHECK: the days of the sample fit ${quote(timestamp.orElse)} as well.`]),
    ...(timestamp.unread === 0
      ? []
      : [
          `    # CHECK: ${timestamp.unread} of ${timestamp.looked} times in the sample have another form; their records are rejected.`,
        ]),
    ...(otherTimes.length > 0
      ? [`    # Other columns with times: ${otherTimes.map(comment).join(', ')}.`]
      : []),
    `    timestamp: { column: ${quote(timestamp.column)}${timestamp.format === 'iso' ? '' : `, format: ${quote(timestamp.format)}`} }`,
    ...(uuid === undefined
      ? []
      : ['    # Holds a UUID of the event itself.', `    uuid: { column: ${quote(uuid)} }`]),
    ...(key === undefined
      ? [
          '    # CHECK: nothing seems to name one event for ever, so records are one event when they are alike in full.',
          '    # key: [order_id, line]',
        ]
      : [
          '    # What names one event for ever: records with the same name and key are one event.',
          `    key: [${quote(key)}]`,
        ]),
    ...(json.length > 0 ? ['    # Text that is JSON.', `    jsonColumns: ${quoteList(json)}`] : []),
    ...(spread.length > 0
      ? [
          '    # Its fields are properties of the event themselves.',
          `    spreadColumns: ${quoteList(spread)}`,
        ]
      : []),
    ...('column' in event && eventNames.length > 0
      ? [
          '    # What the destination, and its web insights, know under names of their own.',
          '    values:',
          `      ${quote(event.column)}: { ${eventNames.map(([from, to]) => `${quote(from)}: ${quote(to)}`).join(', ')} }`,
        ]
      : []),
    ...(groups.length > 0
      ? [
          '    # Groups that the event belongs to.',
          '    groups:',
          ...groups.map(({ type, column }) => `      - { type: ${quote(type)}, column: ${quote(column)} }`),
        ]
      : []),
    ...(renames.length > 0
      ? [
          '    # What the destination knows under names of its own.',
          '    rename:',
          ...renames.map(([column, name]) => `      ${quote(column)}: ${quote(name)}`),
        ]
      : []),
    '    # Every other column becomes a property of the event. To leave some behind, or to read their values:',
    '    # exclude: [password_hash]',
    ...(numbers.length === 0
      ? ['    # types: { amount: number, active: boolean }']
      : [
          '    # CHECK: these are numbers in the sample, and sent as text, which no insight adds up, unless they get a type.',
          '    # Where a cell of them is no number, its record is rejected then.',
          `    # types: { ${numbers.map(renderNumber).join(', ')} }`,
        ]),
    '    # hash: { columns: [email], key: "${BACKHAUL_HASH_KEY}" }',
  ];
}

/** Which times the zone is for. */
function renderZone({ local, unread, looked }: ColumnGuess['timestamp']): string {
  if (local === 0) return 'The zone of timestamps that carry none.';
  const which = local === looked - unread ? 'times' : `${local} of ${looked} times in the sample`;
  return `CHECK: ${which} carry no zone, and are read in this one.`;
}

const renderNumber = ({ column, decimal, group }: NumberGuess): string =>
  decimal === '.' && group === undefined
    ? `${quote(column)}: number`
    : `${quote(column)}: { number: { decimal: ${quote(decimal)}${group === undefined ? '' : `, group: ${quote(group)}`} } }`;

/** `${` would name a variable: see interpolate.ts. */
const quote = (text: string): string => JSON.stringify(text.replaceAll('${', '$${'));
const quoteList = (texts: readonly string[]): string => `[${texts.map(quote).join(', ')}]`;
const quoteAll = ([first = '', ...rest]: readonly string[]): string =>
  rest.length === 0 ? quote(first) : quoteList([first, ...rest]);
const comment = (text: string): string => JSON.stringify(text);

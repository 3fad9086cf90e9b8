import type { Mutant } from '../mutant.ts';

export const SOURCES_MUTANTS: readonly Mutant[] = [
  {
    id: 'DROP-1',
    what: 'an Amplitude event that is dropped hides who used its device',
    file: 'src/sources/amplitude/properties.ts',
    edits: [['hearsDropped: true', 'hearsDropped: false']],
    tests: ['test/sources/dropped-events.test.ts'],
  },
  {
    id: 'DROP-2',
    what: 'a call that is dropped hides who used its device',
    file: 'src/sources/segment-spec/calls.ts',
    edits: [['isDropped && !rules.hearsDropped', 'isDropped']],
    tests: ['test/sources/dropped-events.test.ts'],
  },
  {
    id: 'DROP-3',
    what: 'a row that is dropped hides who used its device',
    file: 'src/sources/declared/declared.ts',
    edits: [['isDropped && !hearsDropped', 'isDropped']],
    tests: ['test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'HEARD-1',
    what: 'a record that is rejected hides who used its device',
    file: 'src/sources/mapping/hear-unsaid.ts',
    edits: [["outcome.kind === 'rejected' ||", '']],
    tests: ['test/sources/heard.test.ts'],
  },
  {
    id: 'HEARD-2',
    what: 'a record that is dropped without a time hides who used its device',
    file: 'src/sources/mapping/hear-unsaid.ts',
    edits: [["outcome.kind === 'skipped' &&", 'false &&']],
    tests: ['test/sources/heard.test.ts', 'test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'HEARD-3',
    what: 'an id that is too long to be sent hides that somebody else used the device',
    file: 'src/sources/mapping/distinct-id.ts',
    edits: [['id?.slice(0, ID_MAX_LENGTH + 1)', '(id && id.length > ID_MAX_LENGTH ? undefined : id)']],
    tests: ['test/sources/heard.test.ts'],
  },
  {
    id: 'HEARD-4',
    what: 'text that cannot be hashed is an id all the same',
    file: 'src/sources/declared/values/prepare-record.ts',
    edits: [['return holdsHashed ? undefined : value;', 'return value;']],
    tests: ['test/sources/heard.test.ts'],
  },
  {
    id: 'ITEMS-1',
    what: 'a record without items hides who used its device',
    file: 'src/sources/declared/declared.ts',
    edits: [['return toNoItems(mapRow(items.takeBare()));', "return skipped('no_items');"]],
    tests: ['test/sources/declared/values/no-items.test.ts'],
  },
  {
    id: 'ITEMS-2',
    what: 'a record without items hides who used its device where the time is that of an item',
    file: 'src/sources/declared/declared.ts',
    edits: [["withHeard(skipped('no_items'), row.heard)", "skipped('no_items')"]],
    tests: ['test/sources/declared/values/no-items.test.ts'],
  },
  {
    id: 'LATER-1',
    what: 'a person of a later column of ids hides who used a device',
    file: 'src/sources/declared/ids.ts',
    edits: [['later.length > 0 ? readId(later) : undefined', 'undefined']],
    tests: ['test/sources/declared/pairs.test.ts'],
  },
  {
    id: 'LATER-2',
    what: 'an anonymous id of a later column keeps its device from its user',
    file: 'src/sources/declared/ids.ts',
    edits: [['.filter((column) => !anonymous.has(column))', '']],
    tests: ['test/sources/declared/pairs.test.ts'],
  },
  {
    id: 'GROUP-EVENT',
    what: 'a manifest gives events about groups a name that merges persons',
    file: 'src/sources/mapping/event-name.ts',
    edits: [['PERSON_EVENTS.has(name);', 'false && PERSON_EVENTS.has(name);']],
    tests: ['test/config/manifest/manifest.test.ts'],
  },
  {
    id: 'P15',
    what: '$process_person_profile not reserved',
    file: 'src/sources/mapping/properties.ts',
    edits: [
      [
        `  '$process_person_profile',
`,
        '',
      ],
    ],
    tests: ['test/sources/mapping'],
  },
  {
    id: 'P16',
    what: '$unset not reserved',
    file: 'src/sources/mapping/properties.ts',
    edits: [
      [
        `  '$unset',
`,
        '',
      ],
    ],
    tests: ['test/sources/mapping'],
  },
  {
    id: 'P32',
    what: 'pair made for any column of the id list',
    file: 'src/sources/declared/declared.ts',
    edits: [['anonId !== distinctId && found.isKnown) {', 'anonId !== distinctId) {']],
    tests: ['test/sources/declared'],
  },
  {
    id: 'R18',
    what: 'row with a stray quote not ended at its line',
    file: 'src/sources/formats/split-csv.ts',
    edits: [['if (rowIsFaulty && row.includes(LF)) {', 'if (false) {']],
    tests: ['test/sources/formats'],
  },
  {
    id: 'P1',
    what: 'year 2000 not leap (and 2100 leap)',
    file: 'src/sources/mapping/timestamp.ts',
    edits: [['year % 100 !== 0 || year % 400 === 0', 'year % 100 !== 0 || year % 400 !== 0']],
    tests: ['test/sources/mapping'],
  },
  {
    id: 'P20',
    what: 'amplitude uuid from insert_id alone',
    file: 'src/sources/amplitude/events.ts',
    edits: [[`...key.map((field) => readText(record[field]) ?? '')`, '']],
    tests: ['test/sources'],
  },
  {
    id: 'P22',
    what: 'event_time replaced by client time',
    file: 'src/sources/amplitude/events.ts',
    edits: [
      [
        `readRecordTime(record[timeField], timeField, readTime)`,
        `readRecordTime(record['client_event_time'] ?? record[timeField], timeField, readTime)`,
      ],
    ],
    tests: ['test/sources'],
  },
  {
    id: 'P26',
    what: 'EMPTY kept in initial properties',
    file: 'src/sources/amplitude/user-properties.ts',
    edits: [[`if (isInitial && isNone(value)) continue;`, '']],
    tests: ['test/sources'],
  },
  {
    id: 'R10',
    what: 'zip members in archive order',
    file: 'src/sources/formats/unzip.ts',
    edits: [
      [
        `    members.sort((a, b) => compareNaturally(a.name, b.name));
`,
        '',
      ],
    ],
    tests: ['test/sources/formats'],
  },
  {
    id: 'R11',
    what: 'blank lines not counted',
    file: 'src/sources/formats/split-lines.ts',
    edits: [['    this.line += 1;', '    if (record) this.line += 1;']],
    tests: ['test/sources/formats'],
  },
  {
    id: 'R14',
    what: 'surrogate pair torn at a chunk border',
    file: 'src/sources/formats/decode-text.ts',
    edits: [
      [
        `    if (chunk && lastUnit >= 0xd800 && lastUnit <= 0xdbff) usable -= 2;
`,
        '',
      ],
    ],
    tests: ['test/sources/formats'],
  },
  {
    id: 'R19',
    what: 'last record before trailing garbage lost',
    file: 'src/sources/formats/read-records.ts',
    edits: [
      [
        `    if (error instanceof TrailingGarbageError) endText(splitter, records);
`,
        '',
      ],
    ],
    tests: ['test/sources/formats'],
  },
  {
    id: 'R3',
    what: 'a string of the source that begins with the mark is taken for a number',
    file: 'src/lib/json/exact-number.ts',
    edits: [[`\`\\x7f\${randomBytes(6).toString('base64url')}\``, `'\\x7f'`]],
    tests: ['test/lib/json'],
  },
  {
    id: 'P30',
    what: 'calls with a blank messageId share a uuid',
    file: 'src/sources/segment-spec/call-id.ts',
    edits: [
      [
        "messageId === undefined || messageId.trim() === '' ? undefined",
        'messageId === undefined ? undefined',
      ],
    ],
    tests: ['test/sources/segment-spec'],
  },
  {
    id: 'P40',
    what: 'different calls with one messageId share a uuid',
    file: 'src/sources/segment-spec/call-id.ts',
    edits: [["[source, 'call', messageId, event, distinctId, sent ?? time]", "[source, 'call', messageId]"]],
    tests: ['test/sources/segment-spec'],
  },
  {
    id: 'P41',
    what: 'exclude misses fields of spread columns by their own names',
    file: 'src/sources/declared/sort-columns.ts',
    edits: [['[...rules, ...listBelow(rules, name)]', 'listBelow(rules, name)']],
    tests: ['test/sources/declared'],
  },
  {
    id: 'P42',
    what: 'exclude misses fields of spread columns by their paths',
    file: 'src/sources/declared/sort-columns.ts',
    edits: [['[...rules, ...listBelow(rules, name)]', 'rules']],
    tests: ['test/sources/declared'],
  },
  {
    id: 'P43',
    what: 'a spread column that is excluded is spread all the same',
    file: 'src/sources/declared/sort-columns.ts',
    edits: [['(name) => !mapping.exclude.includes(name)', '() => true']],
    tests: ['test/sources/declared'],
  },
  {
    id: 'P44',
    what: 'exclude does not reach into lists',
    file: 'src/sources/declared/name-rules.ts',
    edits: [
      [
        'return value.map((each: unknown) => applyRules(level, each, undefined, renamesInLists))',
        'return value',
      ],
    ],
    tests: ['test/sources/declared'],
  },
  {
    id: 'P45',
    what: 'hashing makes one person of all whose id is no id',
    file: 'src/sources/declared/values/prepare-record.ts',
    edits: [['hasNobody ? change(record, hashId) : hashed', 'hashed']],
    tests: ['test/sources/declared'],
  },
  {
    id: 'P46',
    what: 'of two values that claim one name of a property one is lost',
    file: 'src/sources/declared/sort-columns.ts',
    edits: [['keepsAll ? putAndWatch : put', 'put']],
    tests: ['test/sources/declared'],
  },
  {
    id: 'SF1',
    what: 'a part with records of two versions of a file that was rewritten while it was staged',
    file: 'src/sources/files/local-file.ts',
    edits: [['          await assertUnchanged();\n          yield chunk;', '          yield chunk;']],
    tests: ['test/sources/files'],
  },
];

import type { Mutant } from '../mutant.ts';

export const IDENTITY_MUTANTS: readonly Mutant[] = [
  {
    id: 'E1',
    what: 'shared device merged into its first user',
    file: 'src/identity/merge-decision.ts',
    edits: [["!(entry.isShared && sharedDevices === 'none') &&", '']],
    tests: ['test/identity'],
  },
  {
    id: 'HELD-1',
    what: 'merges sent although more records were rejected than the manifest allows',
    file: 'src/migrations/run/run-migration.ts',
    edits: [['run.persons.hold || deps.tooManyRejects(counts)', 'run.persons.hold']],
    tests: ['test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'SCOPE-1',
    what: 'what another vendor said is gone by a snapshot',
    file: 'src/contract/identity-fact.ts',
    edits: [['return a.length <= MOMENT_LENGTH && b.length <= MOMENT_LENGTH;', 'return true;']],
    tests: ['test/migrations/persons/late-merges.test.ts'],
  },
  {
    id: 'SCOPE-2',
    what: 'what another project said is gone by a snapshot',
    file: 'src/identity/fold-persons.ts',
    edits: [[' && haveOneScope(time, whole)', '']],
    tests: ['test/sources/amplitude/snapshots.test.ts'],
  },
  {
    id: 'SCOPE-3',
    what: 'a value that is gone in one project hides that of another',
    file: 'src/identity/property-fold.ts',
    edits: [["this.#keep === 'latest' && !haveOneScope(", "time === '' && !haveOneScope("]],
    tests: ['test/sources/amplitude/snapshots.test.ts'],
  },
  {
    id: 'SCOPE-4',
    what: 'of a name that two projects have the older value counts',
    file: 'src/identity/fold-persons.ts',
    edits: [['else if (time > last[1])', 'else if (time < last[1])']],
    tests: ['test/sources/amplitude/snapshots.test.ts'],
  },
  {
    id: 'SCOPE-5',
    what: 'snapshots of all projects taken for those of one',
    file: 'src/sources/amplitude/properties.ts',
    edits: [['toOrder(record) + toScope(project)', 'toOrder(record)']],
    tests: ['test/sources/amplitude/snapshots.test.ts'],
  },
  {
    id: 'REMOVED-1',
    what: 'a device merged that removed facts knew as of a person without a user',
    file: 'src/identity/merge-decision.ts',
    edits: [['!(entry.isOfRemoved && !wasSent(entry, at)) &&', '']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'NAMED-1',
    what: 'a device merged under a name that other facts may contradict',
    file: 'src/identity/merge-decision.ts',
    edits: [['entry.isByName && own.areAllNamed !== true &&', 'entry.isByName && sentAt < 0 &&']],
    tests: ['test/migrations/persons/split-exports.test.ts'],
  },
  {
    id: 'NAMED-2',
    what: 'a shared device given to the last of its users although two of them may be one',
    file: 'src/identity/resolve-persons.ts',
    edits: [['doubted.size > 0 && users.some', 'doubted.size < 0 && users.some']],
    tests: ['test/migrations/persons/split-exports.test.ts'],
  },
  {
    id: 'NAMED-3',
    what: 'devices merged under a name that was sent and is contradicted',
    file: 'src/identity/merge-decision.ts',
    edits: [['  !known.isShared &&\n', '  (known.sentAt !== 0 || !known.isShared) &&\n']],
    tests: ['test/migrations/persons/split-exports.test.ts'],
  },
  {
    id: 'NAMED-5',
    what: 'a user given a name that closes a circle over several migrations',
    file: 'src/identity/connect/accept-renames.ts',
    edits: [['if (!table || read(ledger.hash.id(root))?.user !== undefined) return', 'if (!table) return']],
    tests: ['test/migrations/persons/circle-names.test.ts'],
  },
  {
    id: 'NAMED-4',
    what: 'names forgotten with the facts that said them',
    file: 'src/identity/connect/earlier-ids.ts',
    edits: [['await earlierIds.save(open);', '']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'RENAMED-1',
    what: 'a new id that was perhaps not sent is, although the user has two by now',
    file: 'src/identity/merge-decision.ts',
    edits: [['entry.isRenamed && !(entry.isShared && hasPair)', 'entry.isRenamed']],
    tests: ['test/migrations/persons/renames-at-kills.test.ts'],
  },
  {
    id: 'RENAMED-2',
    what: 'a new id that was perhaps not sent is, although others closed a circle of names since',
    file: 'src/identity/merge-decision.ts',
    edits: [['if (entry.isUser && own.isRenamed !== true)', 'if (false)']],
    tests: ['test/migrations/persons/renames-at-kills.test.ts'],
  },
  {
    id: 'SHARED-1',
    what: 'a shared device merged into another user than the one whose it is by now, and nobody told',
    file: 'src/identity/resolve-persons.ts',
    edits: [["verdict === 'merged_before' && isOthers", "verdict === 'none' && isOthers"]],
    tests: ['test/migrations/persons/shared-devices.test.ts'],
  },
  {
    id: 'SHARED-2',
    what: 'the user that a shared device was merged into taken for the first one by a verdict that may be taken back',
    file: 'src/identity/merges/users-seen.ts',
    edits: [['saidMs >= pairMs', 'saidMs < pairMs']],
    tests: ['test/migrations/persons/shared-devices.test.ts'],
  },
  {
    id: 'SHARED-3',
    what: 'a device left with the last user, who was seen with it before others by now, and nobody told',
    file: 'src/identity/merges/users-seen.ts',
    edits: [["toKey(WAS_EARLIER, '')) > 0", "toKey(WAS_EARLIER, '')) > 1"]],
    tests: ['test/migrations/persons/shared-devices.test.ts'],
  },
  {
    id: 'REMOVED-6',
    what: 'devices of a person that removed facts named not reported once its user is known',
    file: 'src/identity/connect/pair-members.ts',
    edits: [['if (isRemoving && devices && !only) enterNames(hashDevices(), devices);\n', '']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'REMOVED-3',
    what: 'devices of a person with several users forgotten with the facts about it',
    file: 'src/identity/connect/pair-members.ts',
    edits: [['isRemoving || (removedJoins', '(removedJoins']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'REMOVED-4',
    what: 'a person taken to have several users for good, although only facts that are gone say so',
    file: 'src/identity/connect/pair-members.ts',
    edits: [['known.size < 2)', 'known.size < 0)']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'REMOVED-5',
    what: 'a device left out whose user only removed facts named, and nobody told',
    file: 'src/identity/connect/pair-members.ts',
    edits: [['if (only && isOwn && others.size > 0) addUnmerged', 'if (only && isShared) addUnmerged']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'REMOVED-2',
    what: 'persons that removed facts joined taken for whole',
    file: 'src/identity/connect/removed-joins.ts',
    edits: [['if (found !== size)', 'if (found < 0)']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'E1a',
    what: 'what the ledger knows of users forgotten: a replay merges a shared device',
    file: 'src/identity/merge-decision.ts',
    edits: [['const isShared = known.isShared || users', 'const isShared = users']],
    tests: ['test/identity'],
  },
  {
    id: 'E1b',
    what: 'merges of earlier turns sent again',
    file: 'src/identity/merge-decision.ts',
    edits: [['sentAt !== at.turn && at.hasEnded(sentAt)', 'sentAt !== at.turn && !at.hasEnded(sentAt)']],
    tests: ['test/identity'],
  },
  {
    id: 'E1c',
    what: 'a contradicted merge not reported',
    file: 'src/identity/resolve-persons.ts',
    edits: [["if (verdict === 'contradicted') unmerged.push(", "if (verdict === 'merge') unmerged.push("]],
    tests: ['test/identity'],
  },
  {
    id: 'E1d',
    what: 'an id that is somebody elses user merged',
    file: 'src/identity/merge-decision.ts',
    edits: [['const isUser = known.isUser || own.isUser;', 'const isUser = own.isUser;']],
    tests: ['test/identity'],
  },
  {
    id: 'E2',
    what: 'older values replace newer ones',
    file: 'src/identity/property-decision.ts',
    edits: [["keep === 'latest' ? timeMs > known.timeMs", "keep === 'latest' ? timeMs < known.timeMs"]],
    tests: ['test/identity'],
  },
  {
    id: 'E2a',
    what: 'values older than those of an id that was merged since replace them',
    file: 'src/identity/property-filter.ts',
    edits: [['overwrite && timeMs > floorMs && !(', 'overwrite && !(']],
    tests: ['test/identity'],
  },
  {
    id: 'E2b',
    what: 'a newer value lost in a merge that a later migration brings',
    file: 'src/identity/resolve-buckets.ts',
    edits: [['if (late.length > 0) await passOnSent', 'if (late.length > 1_000) await passOnSent']],
    tests: ['test/migrations/persons/late-merges.test.ts'],
  },
  {
    id: 'E2c',
    what: 'values of one name replaced by older ones of an id that perhaps was merged',
    file: 'src/identity/property-filter.ts',
    edits: [['timeMs < readMark(of, FLOOR_OF_ONE, one[0])', 'timeMs < 0']],
    tests: ['test/migrations/persons/late-merges.test.ts'],
  },
  {
    id: 'E2d',
    what: 'what only fills a gap sent again where a value is',
    file: 'src/identity/property-decision.ts',
    edits: [['if (isOnce && (isOver', 'if (isOnce && (false']],
    tests: ['test/identity/ledger.test.ts'],
  },
  {
    id: 'E2e',
    what: 'what only fills a gap sent again behind a turn that was interrupted',
    file: 'src/identity/property-decision.ts',
    edits: [['(isOver || wasSentBefore(before, at))', 'isOver']],
    tests: ['test/identity'],
  },
  {
    id: 'E3',
    what: 'properties sent before the ledger knows of them',
    file: 'src/identity/fold-buckets.ts',
    edits: [
      [
        `    await options.tables.save(some.tables);
    const { subjects } = some;
    some.subjects = [];
    some.bytes = 0;
    yield* cutChunks(subjects, batch, ledger.hash);`,
        `    const { subjects } = some;
    some.subjects = [];
    some.bytes = 0;
    yield* cutChunks(subjects, batch, ledger.hash);
    await options.tables.save(some.tables);`,
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E5',
    what: 'a bucket of the ledger overwritten by a process that lost its lock',
    file: 'src/state/ledger/ledger-tables.ts',
    edits: [
      [
        'if (!(await staging.create(key, wrap(await records.encode(pace), width)))) {',
        'if (!(await staging.put(key, wrap(await records.encode(pace), width)))) {',
      ],
    ],
    tests: ['test/state/ledger'],
  },
  {
    id: 'E6',
    what: 'a damaged bucket of the ledger believed',
    file: 'src/state/ledger/ledger-tables.ts',
    edits: [['records.length % width === 0 && digest(', 'records.length % width === 0 || digest(']],
    tests: ['test/state/ledger'],
  },
  {
    id: 'E7',
    what: 'a forgotten ledger merges again',
    file: 'src/identity/merge-decision.ts',
    edits: [['if (at.isForgotten)', 'if (!at.isForgotten && false)']],
    tests: ['test/identity'],
  },
  {
    id: 'E14',
    what: 'last flush left out',
    file: 'src/identity/resolve-buckets.ts',
    edits: [
      [
        `      await flushFacts(0);
      return`,
        '      return',
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E14a',
    what: 'last merges left out',
    file: 'src/identity/resolve-buckets.ts',
    edits: [
      [
        `      await flushMerges(0);
      await flushFacts(0);`,
        '      await flushFacts(0);',
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E15',
    what: 'digits of folded values lost',
    file: 'src/state/facts/snapshots.ts',
    edits: [
      [
        'each(name.key, text.slice(valueStart, valueEnd));',
        'each(name.key, JSON.stringify(JSON.parse(text.slice(valueStart, valueEnd))));',
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E4',
    what: 'earliest and latest swapped',
    file: 'src/identity/property-fold.ts',
    edits: [
      [
        `? version.time > known.time
          : version.time < known.time);`,
        `? version.time < known.time
          : version.time > known.time);`,
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'E8',
    what: 'set_once wins over set',
    file: 'src/identity/property-filter.ts',
    edits: [['setOnce.filter(([key]) => !wasSet.has(key) && !isKnown(of, SET, key))', 'setOnce']],
    tests: ['test/identity'],
  },
  {
    id: 'E18',
    what: 'facts that came since a turn are taken as sent in it',
    file: 'src/migrations/persons/take-in.ts',
    edits: [
      [
        "if (await loadKnownFacts(staging, ledger.id, name)) return 'nothing';",
        "if (await loadKnownFacts(staging, ledger.id, name)) return 'all';",
      ],
    ],
    tests: ['test/migrations/persons'],
  },
  {
    id: 'E20',
    what: 'a user that no record pairs is unknown as a user',
    file: 'src/pipeline/map-to-batches.ts',
    edits: [['facts.addUser(outcome.userId)', '{}']],
    tests: ['test/migrations/persons'],
  },
  {
    id: 'E17',
    what: 'a user that was merged into another one takes merges',
    file: 'src/identity/merges/list-merges.ts',
    edits: [['if (isContradicted(userId))', 'if (isContradicted(userId) && false)']],
    tests: ['test/migrations/persons'],
  },
  {
    id: 'E16',
    what: 'what a cancelled migration entered keeps older values from being sent',
    file: 'src/identity/property-decision.ts',
    edits: [["isOver || known.sentAt === at.turn ? 'known' : 'fill'", "'known'"]],
    tests: ['test/identity'],
  },
  {
    id: 'E19',
    what: 'a lost bucket of the ledger taken for a new one',
    file: 'src/state/ledger/versions.ts',
    edits: [['(found.get(Number(bucket)) ?? 0) < version', 'false']],
    tests: ['test/migrations/persons'],
  },
];

import type { Mutant } from '../mutant.ts';

const DAMAGED = ['test/migrations/persons/damaged-others.test.ts'];
const REFUSED = ['test/migrations/persons/refused-persons.test.ts'];
const LOST = ['test/migrations/persons/lost-ledger.test.ts'];

export const LEDGER_MUTANTS: readonly Mutant[] = [
  {
    id: 'LG0',
    what: 'a value that came back has the uuid of its first event',
    file: 'src/identity/fold-persons.ts',
    edits: [["toFieldProperties('$set', 'set', set, later)", "toFieldProperties('$set', 'set', set)"]],
    tests: ['test/identity/ledger.test.ts'],
  },
  {
    id: 'LG0a',
    what: 'a value that came back and is sent by another turn has the uuid of its first event',
    file: 'src/identity/property-decision.ts',
    edits: [['(known.timeMs === timeMs ? known.isLater : true)', 'known.timeMs !== timeMs']],
    tests: ['test/identity/ledger.test.ts'],
  },
  {
    id: 'LG1',
    what: 'a merge that was refused counts as made',
    file: 'src/identity/merge-decision.ts',
    edits: [['  if (known.sentAt !== turn) return;', '  if (known.sentAt !== 0) return;']],
    tests: REFUSED,
  },
  {
    id: 'LG2',
    what: 'a value that was refused counts as set',
    file: 'src/identity/property-decision.ts',
    edits: [['  if (known?.sentAt !== turn) return;', '  if (known?.sentAt !== 0) return;']],
    tests: REFUSED,
  },
  {
    id: 'LG3',
    what: 'what was sent before a refused value is forgotten with it',
    file: 'src/identity/property-decision.ts',
    edits: [['before ?? NOTHING_SENT', 'NOTHING_SENT']],
    tests: REFUSED,
  },
  {
    id: 'LG4',
    what: 'refused persons taken in as sent by a ledger that is made again',
    file: 'src/migrations/persons/take-in.ts',
    edits: [['turns.includes(facts) && !wasRefused', 'turns.includes(facts)']],
    tests: REFUSED,
  },
  {
    id: 'LG4a',
    what: 'a ledger that was restored from an older backup taken for whole',
    file: 'src/migrations/persons/lost-turns.ts',
    edits: [['return lost === 0 ?', 'return lost >= 0 ?']],
    tests: LOST,
  },
  {
    id: 'LG4b',
    what: 'a ledger that was made again made again for ever',
    file: 'src/migrations/persons/lost-turns.ts',
    edits: [['turn < rebuiltAt || turn <= lost', 'turn <= lost']],
    tests: LOST,
  },
  {
    id: 'LG5',
    what: 'buckets lost with their versions before a turn has ended',
    file: 'src/state/ledger/versions.ts',
    edits: [['(await hasMoreThanDocument(staging, id)) ? key : undefined', 'undefined']],
    tests: LOST,
  },
  {
    id: 'LG6',
    what: 'buckets of a step under way lost',
    file: 'src/migrations/persons/rebuild-ledger.ts',
    edits: [['await listNotedVersions(staging, ledger.id)', '[]']],
    tests: LOST,
  },
  {
    id: 'LG7',
    what: 'a ledger made again without a migration that was deleted',
    file: 'src/migrations/persons/rebuild-ledger.ts',
    edits: [['const isGone = !(await loadMigration(staging, name));', 'const isGone = false;']],
    tests: LOST,
  },
  {
    id: 'LG8',
    what: 'identity facts removed while their ledger lacks something',
    file: 'src/migrations/persons/remove-facts.ts',
    edits: [['    await assertWhole(staging, { id }, name);\n', '']],
    tests: LOST,
  },
  {
    id: 'LG9',
    what: 'the number of a lost turn given again',
    file: 'src/state/ledger/versions.ts',
    edits: [['.last < turn ? keys.turn(turn) : undefined', '.last < turn ? undefined : undefined']],
    tests: ['test/state/ledger'],
  },
  {
    id: 'LG13',
    what: 'a refusal that was accepted and taken back is sent again after a crash',
    file: 'src/migrations/run/persons-phase.ts',
    edits: [[' || (await listEndedEpochs(staging, record.name)).has(turn)', '']],
    tests: REFUSED,
  },
  {
    id: 'LG12',
    what: 'a property that was too large counts as sent',
    file: 'src/identity/fold-persons.ts',
    edits: [
      [
        `  // It may fit where an event may be larger.
  for (const { entry, key } of tooLarge) filter.withdraw(of, entry, key);
`,
        '',
      ],
    ],
    tests: ['test/identity'],
  },
  {
    id: 'LG10',
    what: 'one project at two hosts taken for two without a word',
    file: 'src/migrations/persons/ledger-destination.ts',
    edits: [['if (!mayBeSameProject(destination, its)) continue;', 'if (its) continue;']],
    tests: ['test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'LG11',
    what: 'facts held under one key forgotten under another name of its host',
    file: 'src/migrations/persons/take-in.ts',
    edits: [['if (!sameProject.has(name)) continue;', 'continue;']],
    tests: ['test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'LG30',
    what: 'a project that is known by a name and by its earlier key taken for two',
    file: 'src/migrations/persons/same-project.ts',
    edits: [['for (const tie of [last.ledger, last.key]) if (tie !== undefined) ties.add(tie);', '']],
    tests: ['test/migrations/persons/rotated-keys.test.ts'],
  },
  {
    id: 'LG32',
    what: 'two names that a key has already decided apart',
    file: 'src/migrations/persons/same-project.ts',
    edits: [['(!isNamed || (await hasItsKey(name)))', '!isNamed']],
    tests: ['test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'LG33',
    what: 'a second name for the project of a key accepted',
    file: 'src/migrations/persons/ledger-destination.ts',
    edits: [['if (!first || first.project === destination.project) return;', 'if (first || !first) return;']],
    tests: ['test/migrations/persons/wrong-merges.test.ts'],
  },
  {
    id: 'LG31',
    what: 'two migrations of one key that send about persons at once, under two ledgers',
    file: 'src/migrations/persons/ledger-lock.ts',
    edits: [['if (key === id) return takeLedgerLock(id, deps);', 'return takeLedgerLock(id, deps);']],
    tests: ['test/migrations/persons/rotated-keys.test.ts'],
  },
  {
    id: 'LW1',
    what: 'versions that are expected lowered by a writer that slept',
    file: 'src/state/ledger/versions.ts',
    edits: [
      [
        '  if (!(await staging.create(keys.versions(number + 1), encodeDocument(document)))) return false;\n',
        '  await staging.put(keys.versions(number + 1), encodeDocument(document));\n',
      ],
    ],
    tests: ['test/state/ledger'],
  },
  {
    id: 'LW2',
    what: 'a ledger that was emptied made whole by a writer that slept',
    file: 'src/state/ledger/versions.ts',
    edits: [["    if (newest && 'emptied' in newest) return;\n", '']],
    tests: ['test/state/ledger'],
  },
  {
    id: 'LW3',
    what: 'refused persons not sent again because of what an earlier attempt wrote late',
    file: 'src/migrations/persons/attempts.ts',
    edits: [['return (step, range) => latest.get(`${step} ${toRangeId(range)}`) ?? 1;', 'return () => 1;']],
    tests: REFUSED,
  },
  {
    id: 'LW4',
    what: 'what an older producer says of a turn counts',
    file: 'src/migrations/persons/turn.ts',
    edits: [
      [
        'if (epoch > (epochs.get(turn) ?? 0)) epochs.set(turn, epoch);',
        'epochs.set(turn, epochs.get(turn) ?? epoch);',
      ],
    ],
    tests: ['test/migrations/persons/ended-turns.test.ts'],
  },
  {
    id: 'LW5',
    what: 'a turn that was given up comes to something later',
    file: 'src/migrations/persons/turn.ts',
    edits: [
      [
        'if (turn < later && !plan.ended.includes(turn)) epochs.delete(turn);',
        'if (turn > later) epochs.delete(turn);',
      ],
    ],
    tests: ['test/migrations/persons/ended-turns.test.ts'],
  },
  {
    id: 'LW6',
    what: 'a merge of an earlier turn sent by a worker that slept, while the next turn is being opened',
    file: 'src/migrations/persons/ledger-lock.ts',
    edits: [['    turn: 0,\n', '']],
    tests: ['test/migrations/persons/ledger-lock.test.ts'],
  },
  {
    id: 'LW7',
    what: 'a turn taken for one that sent, because its plan was not there yet',
    file: 'src/migrations/persons/ledger-at-turn.ts',
    edits: [
      [
        'if (plan?.ledger === id) known.set(turn, plan.mayHaveSent === false);',
        'known.set(turn, plan?.ledger === id && plan.mayHaveSent === false);',
      ],
    ],
    tests: ['test/migrations/persons/ledger-at-turn.test.ts'],
  },
  {
    id: 'LW8',
    what: 'turns of a ledger that was removed taken for those of the one that came after it',
    file: 'src/migrations/persons/ledger-at-turn.ts',
    edits: [
      ['ledgers.get(hashKey) ??', 'ledgers.get(id) ??'],
      ['ledgers.set(hashKey, known);', 'ledgers.set(id, known); void hashKey;'],
    ],
    tests: ['test/migrations/persons/ledger-at-turn.test.ts'],
  },
  {
    id: 'LD1',
    what: 'nothing merged at a destination any more, because a receipt of a removed migration is damaged',
    file: 'src/migrations/persons/take-in.ts',
    edits: [['      if (atRemoval) {', '      if (atRemoval && known) {']],
    tests: DAMAGED,
  },
  {
    id: 'LD2',
    what: 'a ledger that was removed taken for the one that knew a removed migration',
    file: 'src/migrations/persons/facts-removed.ts',
    edits: [['const isSame = (await loadTurns(staging, ledger)).known.has(turn);', 'const isSame = true;']],
    tests: DAMAGED,
  },
  {
    id: 'LD3',
    what: 'damage taken for facts that were removed too early',
    file: 'src/migrations/persons/take-in.ts',
    edits: [['      await assertReceiptsWhole(staging, name);\n', '']],
    tests: DAMAGED,
  },
  {
    id: 'LD4',
    what: 'what a vendor joined in a removed migration forgotten with the mark of its removal',
    file: 'src/migrations/persons/facts-removed.ts',
    edits: [["?.state === 'removed';", "?.state === 'none';"]],
    tests: DAMAGED,
  },
  {
    id: 'LD5',
    what: 'facts that no ledger knew removed with --forget, and contradicted by the next migration',
    file: 'src/migrations/persons/remove-facts.ts',
    edits: [['if (last !== undefined && (await hasFacts(staging, name))) ids.add(last);', '']],
    tests: DAMAGED,
  },
  {
    id: 'LD6',
    what: 'persons of a finished migration wait for ever, because what the ledger says of it was damaged',
    file: 'src/migrations/persons/take-in.ts',
    edits: [
      [
        "if (await loadKnownFacts(staging, ledger.id, name)) return 'nothing';",
        "if ((await listLedgersOf(staging, name)).includes(ledger.id)) return 'nothing';",
      ],
    ],
    tests: DAMAGED,
  },
  {
    id: 'LD7',
    what: 'a damaged plan of a migration to another project holds up this one',
    file: 'src/migrations/persons/lost-turns.ts',
    edits: [[' && !(await isKnownElsewhere(staging, name, turn))', '']],
    tests: DAMAGED,
  },
];

import type { Mutant } from '../mutant.ts';

export const MIGRATIONS_MUTANTS: readonly Mutant[] = [
  {
    id: 'STAGE-1',
    what: 'a producer goes on though staging does not hold its migration any more',
    file: 'src/migrations/run/lease.ts',
    edits: [['      if (isGone) throw', '      if (!isGone && isGone) throw']],
    tests: ['test/migrations/run/lease.test.ts'],
  },
  {
    id: 'SP1',
    what: 'locks of another container of the same host name are taken for those of a dead process',
    file: 'src/migrations/lifecycle.ts',
    edits: [['one.host === other.host && one.pids === other.pids', 'one.host === other.host']],
    tests: ['test/migrations/lifecycle.test.ts', 'test/migrations/run/lease.test.ts'],
  },
  {
    id: 'GROUPS-1',
    what: 'a plan says nothing of a sixth type of groups, which the destination ignores',
    file: 'src/migrations/plan/find-group-types.ts',
    edits: [['types.size <= MOST_GROUP_TYPES', 'types.size <= MOST_GROUP_TYPES + 1']],
    tests: ['test/migrations/plan/find-group-types.test.ts'],
  },
  {
    id: 'GONE-1',
    what: 'nothing tells which ids a removed migration has delivered',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [['keepRejects || hasOthers ?', 'false ?']],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'GONE-2',
    what: 'a record takes the place of a delivered one that is gone',
    file: 'src/migrations/run/taken-events.ts',
    edits: [['gone.length === 0', 'gone.length >= 0']],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'GONE-3',
    what: 'what a removed replay has rejected counts as the content that stays',
    file: 'src/state/rejects/fold-result.ts',
    edits: [
      [
        'return { elsewhere: kept.elsewhere, rejected: new Map(rejected) };',
        'return { elsewhere: kept.elsewhere, rejected: new Map() };',
      ],
    ],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'GONE-4',
    what: 'hashes of what was delivered stay once the last of a family is removed',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [['if (!left.hasOthers && !keepRejects) await', 'if (left.hasOthers && !keepRejects) await']],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'GONE-5',
    what: 'the other events of a record that takes such a place are sent again',
    file: 'src/pipeline/advance.ts',
    edits: [['{ accepted, sends: withheld }', '{ sends: withheld }']],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'GONE-6',
    what: 'what a fold kept of a record that was removed since is lost by the next one',
    file: 'src/migrations/run/fold-source.ts',
    edits: [
      [
        'if (of.isGone) return saveKeptBefore(staging, of.part, key, kept);',
        'if (of.isGone) return undefined;',
      ],
    ],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'LIMIT-1',
    what: 'what was sent before its limits were lowered has no fingerprint',
    file: 'src/pipeline/map-to-batches.ts',
    edits: [['from === 0 ? present', 'from >= 0 ? present']],
    tests: ['test/pipeline/lowered-limits.test.ts'],
  },
  {
    id: 'SN5',
    what: 'rm ends the epochs of a migration after it listed its objects',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [
      [
        "  await store.askRedis((redis) => redis.hdel(migrationKey(record.id), 'epoch')).catch(() => {});\n",
        '',
      ],
    ],
    tests: ['test/migrations/remove.test.ts'],
  },
  {
    id: 'U12',
    what: 'folding though resolving failed',
    file: 'src/migrations/run/persons/run-turn.ts',
    edits: [['    if (failures.length > 0) return failures;\n', '']],
    tests: ['test/migrations/run'],
  },
  {
    id: 'QP1',
    what: 'a run whose queue gives out no jobs waits without a word',
    file: 'src/migrations/run/scheduler.ts',
    edits: [['else silent.add(entry.work.name);', '']],
    tests: ['test/migrations/run/scheduler.test.ts'],
  },
  {
    id: 'U4',
    what: 'missing job never offered again',
    file: 'src/migrations/run/scheduler.ts',
    edits: [
      [
        `if (state.kind === 'missing') await settle(jobId, { kind: 'handed_back', why: 'not in the queue' });
      else if (state.kind !== 'open') await settle(jobId, state);`,
        `if (state.kind !== 'open' && state.kind !== 'missing') await settle(jobId, state);`,
      ],
    ],
    tests: ['test/migrations/run'],
  },
  {
    id: 'U5',
    what: 'older epoch in Redis not gone above',
    file: 'src/migrations/run/lease.ts',
    edits: [
      [
        'if epoch >= tonumber(ARGV[1]) then return epoch end',
        'if epoch > tonumber(ARGV[1]) then return epoch end',
      ],
    ],
    tests: ['test/migrations/run'],
  },
  {
    id: 'U6',
    what: 'superseded producer continues',
    file: 'src/migrations/run/lease.ts',
    edits: [
      [
        'compareEpoch(epoch, known == null ? undefined : Number(known))',
        'compareEpoch(epoch, known == null ? undefined : Math.min(Number(known), epoch))',
      ],
    ],
    tests: ['test/migrations/run'],
  },
  {
    id: 'L1',
    what: '20 million exactly refused',
    file: 'src/migrations/plan/check-limits.ts',
    edits: [['const tooMany = volume > allowedVolume *', 'const tooMany = volume >= allowedVolume *']],
    tests: ['test/migrations/plan'],
  },
  {
    id: 'T5',
    what: 'receipt listed twice counts twice',
    file: 'src/migrations/report/receipt-totals.ts',
    edits: [
      [
        `    if (this.#readByPart.has(receipt.part)) return; // a part has one receipt, however often it is listed
`,
        '',
      ],
    ],
    tests: ['test/migrations/report'],
  },
  {
    id: 'T6',
    what: 'credentials of the destination in the report',
    file: 'src/migrations/report/build-report.ts',
    edits: [['destination: withoutCredentials(input.destination)', 'destination: input.destination']],
    tests: ['test/migrations/report'],
  },
  {
    id: 'U1',
    what: 'done believed without a receipt in staging',
    file: 'src/migrations/run/scheduler.ts',
    edits: [
      [
        `if (state.kind === 'done' && (await deps.onSettled(entry.work)) === 'settled') return;`,
        `if (state.kind === 'done') {
      await deps.onSettled(entry.work);
      return;
    }`,
      ],
    ],
    tests: ['test/migrations/run'],
  },
  {
    id: 'U8',
    what: 'lease of a living process stolen',
    file: 'src/migrations/lifecycle.ts',
    edits: [
      [
        'return isSamePlace(holder, here) && !here.isAlive(holder.pid) ?',
        'return isSamePlace(holder, here) ?',
      ],
    ],
    tests: ['test/migrations'],
  },
  {
    id: 'U9',
    what: 'lost Redis not noticed',
    file: 'src/migrations/run/lease.ts',
    edits: [
      [
        `      if (duty === 'acquire') throw new RedisWipedError('Redis lost the newest state of the migration');
`,
        '',
      ],
    ],
    tests: ['test/migrations/run'],
  },
  {
    id: 'ZC1',
    what: 'a state that an older epoch wrote late is taken for a pause of an operator',
    file: 'src/migrations/run/lease.ts',
    edits: [['if (epoch === undefined && DUTIES[state]', 'if (DUTIES[state]']],
    tests: ['test/migrations/run/lease.test.ts'],
  },
  {
    id: 'ZC2',
    what: 'a state that is copied to Redis late replaces a newer one',
    file: 'src/state/checkpoints.ts',
    edits: [
      [
        ">= tonumber(ARGV[2]) then return 0 end\nredis.call('HSET', KEYS[1], 'control'",
        ">= 1e15 then return 0 end\nredis.call('HSET', KEYS[1], 'control'",
      ],
    ],
    tests: ['test/migrations/run/lease.test.ts'],
  },
  {
    id: 'ZC3',
    what: 'the report of an older epoch is read',
    file: 'src/migrations/report/report.ts',
    edits: [
      [
        '(await isEpochOver(staging, name, newest.number)) ? undefined',
        'isEpochOver === undefined ? undefined',
      ],
    ],
    tests: ['test/migrations/report/stored-report.test.ts'],
  },
  {
    id: 'EPO1',
    what: 'a producer continues although its migration was removed just before its epoch was opened',
    file: 'src/migrations/run/lease.ts',
    edits: [['      await assertStillThere(staging, record);\n', '']],
    tests: ['test/migrations/foreign-epochs.test.ts'],
  },
  {
    id: 'ZC4',
    what: 'a state is entered though another one came between question and answer',
    file: 'src/migrations/life-store.ts',
    edits: [
      [
        'if (await addControl(staging, record, { number, control: { state, ...why, ...of } }))',
        'if (await addControl(staging, record, { number, control: { state, ...why, ...of } }) || number > 0)',
      ],
    ],
    tests: ['test/migrations/run/lease.test.ts'],
  },
  {
    id: 'AK1',
    what: 'a replay or a release is compared with what it accepted itself alone',
    file: 'src/migrations/prepare/compare-manifest.ts',
    edits: [
      [
        'for (const one of [known, ...(await loadOrigins(runtime.staging, known))])',
        'for (const one of [known])',
      ],
    ],
    tests: ['test/migrations/another-key.test.ts'],
  },
  {
    id: 'AK2',
    what: 'a worker with the key of another project is sent a part of the events',
    file: 'src/migrations/open-manifest.ts',
    edits: [['if (ledger === own.id && key === own.key) return;', 'if (name) return;']],
    tests: ['test/migrations/another-key.test.ts'],
  },
  {
    id: 'AK3',
    what: 'where a project is named, the key of a worker is not looked at',
    file: 'src/migrations/open-manifest.ts',
    edits: [['if (ledger === own.id && key === own.key)', 'if (ledger === own.id)']],
    tests: ['test/migrations/another-key.test.ts'],
  },
  {
    id: 'PD1',
    what: 'a slice that lost a part is not staged again',
    file: 'src/migrations/run/import-phase.ts',
    edits: [['if (isStaged(receipt) && !isAgain)', 'if (isStaged(receipt))']],
    tests: ['test/migrations/damage.test.ts'],
  },
  {
    id: 'PD2',
    what: 'a file that lost several parts is not staged again',
    file: 'src/migrations/run/import-phase.ts',
    edits: [[' || (lost > 1 && receipt.files === undefined)', '']],
    tests: ['test/migrations/damage.test.ts'],
  },
  {
    id: 'RC1',
    what: 'an outage of Redis is told by the text of any error',
    file: 'src/lib/redis-reply.ts',
    edits: [
      ["if (!(error instanceof Error) || error.name !== 'ReplyError')", 'if (!(error instanceof Error))'],
    ],
    tests: ['test/lib/redis-reply.test.ts'],
  },
  {
    id: 'RC2',
    what: 'what a script met is not looked for in its error',
    file: 'src/lib/redis-reply.ts',
    edits: [['QUOTED_BY_SCRIPT.exec(error.message)?.[1] ?? code', 'code']],
    tests: ['test/lib/redis-reply.test.ts'],
  },
  {
    id: 'GF1',
    what: 'a file that is gone before its end is left out of a run without a word',
    file: 'src/migrations/prepare/prepare.ts',
    edits: [['[...files, ...lost], allowed)', 'files, allowed)']],
    tests: ['test/migrations/gone-files.test.ts'],
  },
  {
    id: 'GF2',
    what: 'a file that the manifest names and that is gone stops a resume',
    file: 'src/sources/files/find-source-files.ts',
    edits: [['found.length > 0 || wasThere?.(toName(baseDir, path))', 'found.length > 0']],
    tests: ['test/migrations/gone-files.test.ts'],
  },
  {
    id: 'GF3',
    what: 'a source of which nothing is left stops the resume of what is staged',
    file: 'src/migrations/prepare/find-sources.ts',
    edits: [['isForNew || !(await hasParts(staging, known))', 'known.name !== ""']],
    tests: ['test/migrations/gone-files.test.ts'],
  },
  {
    id: 'GF4',
    what: 'a source in the wrong place is one of which every file is gone',
    file: 'src/migrations/prepare/find-sources.ts',
    edits: [['isForNew || !(await hasParts(staging, known))', 'isForNew']],
    tests: ['test/migrations/gone-files.test.ts'],
  },
  {
    id: 'GF5',
    what: 'a top-up is offered that the other differences forbid',
    file: 'src/migrations/prepare/prepare.ts',
    edits: [['    differences.length === 0\n      ?', '    added.length > 0\n      ?']],
    tests: ['test/migrations/gone-files.test.ts'],
  },
  {
    id: 'RJ1',
    what: 'what a cancelled replay had not finished counts as replayed',
    file: 'src/migrations/rejects/replayed.ts',
    edits: [
      ['if (finished?.has(part) === false) isWhole = false;', 'if (finished === null) isWhole = false;'],
    ],
    tests: ['test/migrations/rejects'],
  },
  {
    id: 'RJ2',
    what: 'events that a migration and a replay sent count twice',
    file: 'src/migrations/verify/shared-events.ts',
    edits: [['await addRepeats(staging, sources, range, 1, sum);', '']],
    tests: ['test/migrations/rejects'],
  },
  {
    id: 'RJ10',
    what: 'a replay loses what shares its id with a record of its migration',
    file: 'src/migrations/run/repeats-phase.ts',
    edits: [
      [
        'const others = (await listOtherParts(staging, record))',
        'const others = (await listOtherParts(staging, record)).slice(0, 0)',
      ],
    ],
    tests: ['test/migrations/rejects/shared-ids.test.ts'],
  },
  {
    id: 'RJ11',
    what: 'what a replay rejected stays where its migration takes the id again',
    file: 'src/migrations/run/other-senders.ts',
    edits: [['if (!records?.has(record)) return false;', 'if (record >= 0) return false;']],
    tests: ['test/migrations/rejects/shared-ids.test.ts'],
  },
  {
    id: 'RJ25',
    what: 'what collided of a record refused in part stays where a replay takes the id again',
    file: 'src/state/rejects/fold-result.ts',
    edits: [['sends.filter((key) => !stay.has(key))', 'sends.slice(0, 0)']],
    tests: ['test/migrations/rejects/partly-sent.test.ts'],
  },
  {
    id: 'RJ3',
    what: 'a replay of a replay forgets what the first migration delivered of a record',
    file: 'src/pipeline/import-part.ts',
    edits: [['  if (!before) return note;', '  if (!before || note) return note;']],
    tests: ['test/migrations/rejects'],
  },
  {
    id: 'RJ20',
    what: 'a record that came after a replay, and shares an id with what it sent, is not left to be replayed',
    file: 'src/migrations/rejects/rejects.ts',
    edits: [['if (known && known.left < known.count) known.left += count;', '']],
    tests: ['test/migrations/rejects/replay-again.test.ts'],
  },
  {
    id: 'RJ22',
    what: 'a replay leaves out what was accepted of a record refused in part, though it shares its id',
    file: 'src/migrations/run/several-events.ts',
    edits: [
      [
        '    for (const [record, { colliding, staying, isElsewhere }] of [...records]',
        '    for (const [record, { colliding, staying, isElsewhere }] of [...records].filter(([each]) => wholes.has(each))',
      ],
    ],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'RJ23',
    what: 'of a record refused in part, what was refused is sent once more under an id of its own',
    file: 'src/pipeline/map-record.ts',
    edits: [[' && (!only || of.some((key) => only.has(key)))', '']],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'RJ24',
    what: 'an event that collides once another one of its record was replayed is left out',
    file: 'src/migrations/rejects/replayed.ts',
    edits: [
      ['else markAll(taken, each, index + 1);', 'markAll(taken, each, index + 1);'],
      [
        '      if (!line.sends) return find(line) === undefined ? line : undefined;',
        '      if (line) return find(line) === undefined ? line : undefined;',
      ],
    ],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'RJ26',
    what: 'what one sender rejects stays nowhere, though another one counts it as delivered',
    file: 'src/pipeline/decide-repeats.ts',
    edits: [['!rejecting.has(rows.getSender(one))', 'rejecting.size === 0']],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'RJ27',
    what: 'what collides with another migration of the family is left out twice where both are added up',
    file: 'src/migrations/verify/shared-events.ts',
    edits: [['if (isCounted) sum.events -= elsewhere;', '']],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'RJ28',
    what: 'a record that its sender rejected is subtracted as one that another one sent as well',
    file: 'src/migrations/verify/shared-events.ts',
    edits: [[' || isRejected(at)) continue;', ') continue;']],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'RJ29',
    what: 'what was accepted before a replay is sent again once the rest of its record collides',
    file: 'src/migrations/run/fold-source.ts',
    edits: [['[...(sent?.accepted ?? []), ...accepted]', 'accepted']],
    tests: ['test/migrations/rejects/random-histories.test.ts'],
  },
  {
    id: 'VF20',
    what: 'as many events as records are taken for one event of each',
    file: 'src/migrations/verify/outcomes-of.ts',
    edits: [['isOneToOne: !hasSeveral && ', 'isOneToOne: ']],
    tests: ['test/migrations/verify/outcomes-of.test.ts'],
  },
  {
    id: 'RJ4',
    what: 'two attempts at one replay write the same keys',
    file: 'src/pipeline/stage/stage-rejects.ts',
    edits: [['`${createFileId(name)}-${token}`', 'createFileId(name)']],
    tests: ['test/migrations/rejects/two-attempts.test.ts'],
  },
  {
    id: 'RJ5',
    what: 'what another attempt at a replay took counts as replayed',
    file: 'src/migrations/rejects/replayed.ts',
    edits: [['      if (!isOwn(parseSliceId(part))) continue;\n', '']],
    tests: ['test/migrations/rejects/two-attempts.test.ts'],
  },
  {
    id: 'RJ6',
    what: 'parts of another attempt at a replay are among those of the replay',
    file: 'src/state/migrations.ts',
    edits: [
      ['  return (slice) => slices.has(slice);', '  return (slice) => slices.size > 0 && slice !== "";'],
    ],
    tests: ['test/migrations/rejects/two-attempts.test.ts'],
  },
  {
    id: 'RJ7',
    what: 'what other attempts at a replay have staged stays',
    file: 'src/migrations/rejects/replay.ts',
    edits: [
      ['  await clearOtherAttempts(staging, record).catch(() => {}); // `rm` removes them as well\n', ''],
    ],
    tests: ['test/migrations/rejects/two-attempts.test.ts'],
  },
  {
    id: 'RJ8',
    what: 'removing a migration takes the parts of a replay that is about to begin',
    file: 'src/migrations/rejects/attempts.ts',
    edits: [
      [
        'return (await staging.create(key, body)) || ',
        'return (await staging.create(key, body)) || slice !== "" || ',
      ],
    ],
    tests: ['test/migrations/rejects/two-attempts.test.ts'],
  },
  {
    id: 'RJ9',
    what: 'removing a replay keeps which records another attempt took',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [['...origins, keys.factsRemoved', 'keys.origins, keys.factsRemoved']],
    tests: ['test/migrations/rejects/two-attempts.test.ts'],
  },
  {
    id: 'TU1',
    what: 'a top-up runs with the files that it had before the lease',
    file: 'src/migrations/run/lease.ts',
    edits: [['if (!isSame) throw new FilesAddedError', 'if (isSame === null) throw new FilesAddedError']],
    tests: ['test/migrations/top-ups-at-once.test.ts'],
  },
  {
    id: 'EDIT-1',
    what: 'a resume runs with the limits of before an edit',
    file: 'src/migrations/run/lease.ts',
    edits: [["if (event.kind === 'resume' && latest > 0)", "if (event.kind === 'resume' && latest < 0)"]],
    tests: ['test/migrations/edited-meanwhile.test.ts'],
  },
  {
    id: 'PF1',
    what: 'two full plans of one name share their working data',
    file: 'src/state/keys/plan.ts',
    edits: [['`${toPlanPrefix(name)}${run}/`', '`${toPlanPrefix(name)}${run.slice(0, 0)}`']],
    tests: ['test/migrations/plan/plans-at-once.test.ts'],
  },
  {
    id: 'TU2',
    what: 'a producer runs another migration that has the name by now',
    file: 'src/migrations/run/lease.ts',
    edits: [['if (stored?.id !== record.id) throw', 'if (!stored) throw']],
    tests: ['test/migrations/run'],
  },
  {
    id: 'TU5',
    what: 'files that a removed migration took in count for the next one of its name',
    file: 'src/state/migrations.ts',
    edits: [
      [
        'if (added.of === undefined || added.of === id) yield added;',
        'if (added.of !== id || id) yield added;',
      ],
    ],
    tests: ['test/migrations/top-ups-at-once.test.ts'],
  },
  {
    id: 'TU3',
    what: 'files that another slice has are staged again',
    file: 'src/migrations/run/import-phase.ts',
    edits: [['!staged.has(slice.fileId) && !isInOthers(slice)', '!staged.has(slice.fileId)']],
    tests: ['test/migrations/top-ups-at-once.test.ts'],
  },
  {
    id: 'TU4',
    what: 'a file that is in two slices counts as one',
    file: 'src/migrations/report/build-report.ts',
    edits: [['(recordsOf.get(file) ?? 0) + records', 'records']],
    tests: ['test/migrations/top-ups-at-once.test.ts'],
  },
  {
    id: 'ST1',
    what: 'a file whose time of change lies in the future waits for ever',
    file: 'src/migrations/schedule/settling.ts',
    edits: [['if (isSame && now.getTime() - Date.parse(since) >= lagMs) return true;', '']],
    tests: ['test/migrations/schedule/settling.test.ts'],
  },
  {
    id: 'ST2',
    what: 'a file that changed between two looks is taken in',
    file: 'src/migrations/schedule/settling.ts',
    edits: [['before?.bytes === bytes && before.modified === modified &&', 'before !== undefined &&']],
    tests: ['test/migrations/schedule/settling.test.ts'],
  },
  {
    id: 'CK1',
    what: 'a clock that was a year ahead once stops a schedule for a year',
    file: 'src/migrations/schedule/find-due.ts',
    edits: [['now.getTime() + BELIEVED_AHEAD_MS', 'now.getTime() + 1e15']],
    tests: ['test/migrations/schedule/find-due.test.ts'],
  },
  {
    id: 'CK2',
    what: 'a clock that is a year ahead removes what has just finished',
    file: 'src/migrations/remove/sweep.ts',
    edits: [['Math.abs(aheadMs) > CLOCKS_DIFFER_MS', 'Math.abs(aheadMs) < 0']],
    tests: ['test/migrations/remove.test.ts'],
  },
  {
    id: 'HK1',
    what: 'a run with another hash key takes the lease, and leaves its work to others for ever',
    file: 'src/migrations/start.ts',
    edits: [
      [
        'if (importHere || knowsHashKey(manifest, env)) await',
        'if (!importHere && !knowsHashKey(manifest, env)) await',
      ],
    ],
    tests: ['test/migrations/hash-key.test.ts'],
  },
  {
    id: 'AD-1',
    what: 'replays of a migration that was forgotten are compared with nothing',
    file: 'src/migrations/rejects/family.ts',
    edits: [['return named === undefined || isOfRoot(other, named, stamped) !== true;', 'return false;']],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'AD-4',
    what: 'rm removes a migration while a replay of it is under way',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [['  await assertNoneIsSending(staging, record);\n', '']],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'AD-5',
    what: 'rm holds up everybody for a replay that was given up',
    file: 'src/migrations/remove/family-left.ts',
    edits: [
      [
        "'created', 'running', 'stopped', 'paused']",
        "'created', 'running', 'stopped', 'paused', 'cancelled']",
      ],
    ],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'AD-6',
    what: 'a removal that keeps rejects forgets the key that ids are hashed with, and the project',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [[', ...listMarks(record)];', '];']],
    tests: ['test/migrations/hash-key.test.ts', 'test/migrations/another-key.test.ts'],
  },
  {
    id: 'RD2',
    what: 'rm removes a migration whose replay was resumed after rm had looked at it',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [
      ['  await assertNoneIsSending(staging, record);\n', ''],
      [
        '  const { manifest } = await',
        '  await assertNoneIsSending(staging, record);\n  const { manifest } = await',
      ],
    ],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'XR1',
    what: 'rm --forget drops what a replay that is under way is compared with',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [
      [
        '  await assertNoneIsSending(staging, record);',
        '  if (!forget) await assertNoneIsSending(staging, record);',
      ],
    ],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'XR2',
    what: 'rm removes a migration whose replay is about to begin',
    file: 'src/migrations/remove/family-left.ts',
    edits: [["'created', 'running',", "'running',"]],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'XR3',
    what: 'rm takes the nested replay of a migration that had the name before for one of its own',
    file: 'src/migrations/rejects/family.ts',
    edits: [
      [
        '    if (root) return isOfRoot(other, root, stamped) !== false;',
        '    if (root) return other.replays !== root.name || isOfRoot(other, root, stamped) !== false;',
      ],
    ],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'XR5',
    what: 'rejects of a migration whose removal was interrupted are called gone, to be restored',
    file: 'src/migrations/rejects/rejects.ts',
    edits: [['return control.keepsRejects !== false && hasRejects', 'return hasRejects']],
    tests: ['test/migrations/remove.test.ts'],
  },
  {
    id: 'XR6',
    what: 'a removal that was begun goes on as one that keeps rejects, of which some are gone',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [['if (keepRejects && control?.keepsRejects === false)', 'if (keepRejects && name.length === 0)']],
    tests: ['test/migrations/remove.test.ts'],
  },
  {
    id: 'XR7',
    what: 'a first ledger that rm was killed in looks as if it had lost something, for good',
    file: 'src/migrations/persons/take-in.ts',
    edits: [['  await beginVersions(staging, ledger);\n', '']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'XR8',
    what: 'rm of the first migration to a project decides that devices are nobody’s',
    file: 'src/migrations/persons/remove-facts.ts',
    edits: [['?? (await openLedger(staging, access));', '?? (await openLedger(staging, any));']],
    tests: ['test/migrations/persons/removed-exports.test.ts'],
  },
  {
    id: 'XR9',
    what: 'rm removes a migration though a cancelled replay may have sent events in the place of its own',
    file: 'src/migrations/remove/remove-migration.ts',
    edits: [
      [
        "  if (!forget && control?.state !== 'removed') await assertCompared(staging, record, { keepRejects, env });\n",
        '',
      ],
    ],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'XR10',
    what: 'another content takes the place of what a removed replay may have sent',
    file: 'src/migrations/remove/assert-compared.ts',
    edits: [['if (givenUp && givenUp.sections.length > 0)', 'if (givenUp && part.length === 0)']],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'XR11',
    what: 'a cancelled replay can never be removed though another one has taken over what it left',
    file: 'src/migrations/remove/uncompared.ts',
    edits: [['givenUp.sections, isLeft)', 'givenUp.sections)']],
    tests: ['test/migrations/rejects/removed-original.test.ts'],
  },
  {
    id: 'XO5',
    what: 'a part fails for good because Redis could not say which epoch is in force',
    file: 'src/migrations/run/standing.ts',
    edits: [
      [
        "await orUnavailable(redis.hget(migrationKey(id), 'epoch'))",
        "await redis.hget(migrationKey(id), 'epoch')",
      ],
    ],
    tests: ['test/migrations/open-migrations.test.ts'],
  },
  {
    id: 'YO4',
    what: 'a worker takes the job of another migration, in another staging, for that of its own of the same name',
    file: 'src/migrations/open-migrations.ts',
    edits: [['if (id !== undefined && id !== of.id) throw await explainOther(of);', 'void explainOther;']],
    tests: ['test/migrations/open-migrations.test.ts', 'test/e2e/two-installations.test.ts'],
  },
  {
    id: 'YO5',
    what: 'a worker that cannot do the jobs of one migration leaves its own of the same name, too',
    file: 'jobs/worker.ts',
    edits: [['String(job.data?.id)', 'String(job.data?.migration)']],
    tests: ['test/jobs/worker.test.ts'],
  },
  {
    id: 'YM5',
    what: 'the books do not balance where a top-up was cut off before it began',
    file: 'src/migrations/report.ts',
    edits: [['!stored || wasCutOff(stored, books)', '!stored']],
    tests: ['test/migrations/top-up.test.ts'],
  },
  {
    id: 'YM6',
    what: 'a file that was staged and is lost is taken for one that was never begun',
    file: 'src/migrations/report.ts',
    edits: [['unstagedFiles.every((file) => !known.has(file))', 'known.size > 0']],
    tests: ['test/migrations/damage.test.ts'],
  },
];

import type { Mutant } from '../mutant.ts';

export const DELIVER_MUTANTS: readonly Mutant[] = [
  {
    id: 'D21',
    what: 'lost answer of a grant is granted twice',
    file: 'src/deliver/budget-scripts.ts',
    edits: [
      [
        `  save()
  return {0, 0}
end

local head`,
        `  save()
end

local head`,
      ],
    ],
    tests: ['test/deliver'],
  },
  {
    id: 'D23',
    what: 'stale permit (slow reply) used',
    file: 'src/deliver/redis-budget.ts',
    edits: [['<= requestTimeoutMs * TRAVEL_SHARE', '<= requestTimeoutMs * 1000']],
    tests: ['test/deliver'],
  },
  {
    id: 'D24',
    what: 'a count that is missing is taken for a first use',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['if not isContinued or not state[6] or', 'if (state[1] and not isContinued) or']],
    tests: ['test/deliver'],
  },
  {
    id: 'D26',
    what: 'Redis failure lets senders run free',
    file: 'src/deliver/redis-budget.ts',
    edits: [
      [
        '        await clock.wait(getBackoffCeilingMs(attempt, REDIS_RETRY), signal);',
        `        if (attempt > 3) return [0, 0] as T;
        await clock.wait(getBackoffCeilingMs(attempt, REDIS_RETRY), signal);`,
      ],
    ],
    tests: ['test/deliver'],
  },
  {
    id: 'D29',
    what: 'second half sent before the first',
    file: 'src/deliver/deliver.ts',
    edits: [['for (const half of [second, first]) open', 'for (const half of [first, second]) open']],
    tests: ['test/deliver'],
  },
  {
    id: 'D32',
    what: 'continues starting tasks after a failure',
    file: 'src/lib/async/ordered-concurrency.ts',
    edits: [['if (signal.aborted || failed) break;', 'if (signal.aborted) break;']],
    tests: ['test/lib/async'],
  },
  {
    id: 'D38',
    what: 'no jitter / no backoff growth',
    file: 'src/deliver/retry-policy.ts',
    edits: [['policy.baseMs * 2 ** (attempt - 1)', 'policy.baseMs']],
    tests: ['test/deliver'],
  },
  {
    id: 'D1',
    what: '408 no longer retried',
    file: 'src/deliver/classify.ts',
    edits: [['new Set([408, 425, 429])', 'new Set([425, 429])']],
    tests: ['test/deliver'],
  },
  {
    id: 'D10',
    what: 'no ceiling for Retry-After',
    file: 'src/deliver/classify.ts',
    edits: [[', LONGEST_PAUSE_MS)', ', Number.MAX_SAFE_INTEGER)']],
    tests: ['test/deliver'],
  },
  {
    id: 'D12',
    what: 'grant expires a window after its grant, not after its settling',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['now + timeout + window, member', 'now + window, member']],
    tests: ['test/deliver'],
  },
  {
    id: 'D15',
    what: 'after a lost count nobody waits',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['closed = now + math.max(window, timeout)', 'closed = now']],
    tests: ['test/deliver'],
  },
  {
    id: 'D16',
    what: 'idle window may be made up for in one burst (pacing)',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['now - window / 10)', 'now - window)']],
    tests: ['test/deliver'],
  },
  {
    id: 'D22',
    what: 'dead head of the queue never passed over',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['or at + grace >= now then break end', 'or true then break end']],
    tests: ['test/deliver'],
  },
  {
    id: 'D27',
    what: 'a single 400 is believed',
    file: 'src/deliver/deliver.ts',
    edits: [['const REFUSALS_NEEDED = 3', 'const REFUSALS_NEEDED = 1']],
    tests: ['test/deliver'],
  },
  {
    id: 'D3',
    what: 'Retry-After on 503 slows only the one sender',
    file: 'src/deliver/classify.ts',
    edits: [['status === 429 || afterMs !== undefined', 'status === 429']],
    tests: ['test/deliver'],
  },
  {
    id: 'D30',
    what: 'permit never settled',
    file: 'src/deliver/deliver.ts',
    edits: [
      [
        `        await permit.settle();
`,
        '',
      ],
    ],
    tests: ['test/deliver'],
  },
  {
    id: 'D31',
    what: 'retries take no permit of their own (one permit per request chain)',
    file: 'src/deliver/deliver.ts',
    edits: [['waiting.during(budget.take(events, signal))', 'waiting.during(budget.take(0, signal))']],
    tests: ['test/deliver'],
  },
  {
    id: 'D33',
    what: 'one more in flight than allowed',
    file: 'src/lib/async/ordered-concurrency.ts',
    edits: [['inFlight.length >= width', 'inFlight.length > width']],
    tests: ['test/lib/async'],
  },
  {
    id: 'D35',
    what: 'one event too many in a batch',
    file: 'src/deliver/batch-builder.ts',
    edits: [
      [
        'this.#offsets.length + pending.length > events',
        'this.#offsets.length + pending.length > events + 1',
      ],
    ],
    tests: ['test/deliver'],
  },
  {
    id: 'D42',
    what: 'what one request may not hold goes out in one all the same',
    file: 'src/deliver/deliver.ts',
    edits: [['Math.min(budget.eventsPerPermit, most.events)', 'budget.eventsPerPermit']],
    tests: ['test/pipeline/several-requests.test.ts'],
  },
  {
    id: 'D43',
    what: 'a record of more events than one request may have waits for room that never comes',
    file: 'src/deliver/batch-builder.ts',
    edits: [["if (isOver && this.#offsets.length > 0) return 'full';", "if (isOver) return 'full';"]],
    tests: ['test/deliver/batch-builder.test.ts'],
  },
  {
    id: 'D44',
    what: 'all events of a record are written, however large it has become',
    file: 'src/deliver/batch-builder.ts',
    edits: [['if (this.#judgeLast() !== undefined) return false;', 'this.#judgeLast();']],
    tests: ['test/deliver/batch-builder.test.ts'],
  },
  {
    id: 'D45',
    what: 'a certificate that no waiting corrects is retried',
    file: 'src/deliver/deliver.ts',
    edits: [["if (message !== undefined) return { kind: 'pause', message };", '']],
    tests: ['test/deliver/certificate.test.ts'],
  },
  {
    id: 'D4',
    what: '402 is an error, not a pause',
    file: 'src/deliver/classify.ts',
    edits: [['status === 402 || (', '(']],
    tests: ['test/deliver'],
  },
  {
    id: 'D8',
    what: 'bytes off by one',
    file: 'src/deliver/ranges.ts',
    edits: [['  getOffset(batch, range.to) - 1 - getOffset', '  getOffset(batch, range.to) - getOffset']],
    tests: ['test/deliver'],
  },
  {
    id: 'D9',
    what: 'Retry-After seconds read as ms',
    file: 'src/deliver/classify.ts',
    edits: [['Number(text) * 1000', 'Number(text)']],
    tests: ['test/deliver'],
  },
  {
    id: 'D2',
    what: 'a quota of recordings pauses events',
    file: 'src/deliver/acceptance.ts',
    edits: [["quota.some((name) => name !== 'recordings')", 'quota.length > 0']],
    tests: ['test/deliver/acceptance.test.ts', 'test/deliver/classify.test.ts'],
  },
  {
    id: 'D5',
    what: 'a 200 that names an error counts as accepted',
    file: 'src/deliver/acceptance.ts',
    edits: [['(COMPLAINTS.includes(name) && !isFilled(value))', 'COMPLAINTS.includes(name)']],
    tests: ['test/deliver/acceptance.test.ts', 'test/deliver/classify.test.ts'],
  },
  {
    id: 'D40',
    what: 'a destination that refuses what it accepted before is believed',
    file: 'src/deliver/refusals/confirm-refusals.ts',
    edits: [["  if (answer?.kind !== 'refused') return;", "  if (answer?.kind !== 'accepted') return;"]],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'D41',
    what: 'events that were refused during a flood are not tried again',
    file: 'src/deliver/deliver.ts',
    edits: [['if (unsure.length === 0) return deliveries;', 'return deliveries;']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DB1',
    what: 'a count begun by another process after a loss is believed',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['not isContinued or not state[6] or', 'not isContinued or']],
    tests: ['test/deliver/redis-budget.test.ts'],
  },
  {
    id: 'DB2',
    what: 'what a crash of Redis may have lost is not counted',
    file: 'src/deliver/budget-scripts.ts',
    edits: [
      [
        `    sum = sum + spent
`,
        '',
      ],
    ],
    tests: ['test/deliver/redis-budget.test.ts'],
  },
  {
    id: 'DB3',
    what: 'the block of a crash forgets that pacing makes up for idle time',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['(tonumber(ARGV[10]) + window / 10)', '(tonumber(ARGV[10]))']],
    tests: ['test/deliver/redis-budget.test.ts'],
  },
  {
    id: 'DB4',
    what: 'of several crashes one is counted',
    file: 'src/deliver/budget-scripts.ts',
    edits: [["redis.call('ZCOUNT', KEYS[6], since, '+inf') * block", 'block']],
    tests: ['test/deliver/redis-budget.test.ts'],
  },
  {
    id: 'DB5',
    what: 'after a loss a window is waited where requests live longer',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['closed = now + math.max(window, timeout)', 'closed = now + window']],
    tests: ['test/deliver/redis-budget.test.ts'],
  },
  {
    id: 'DB6',
    what: 'a shorter slow-down ends a longer one',
    file: 'src/deliver/budget-scripts.ts',
    edits: [["if untilMs > tonumber(redis.call('GET', KEYS[4]) or 0) then", 'if true then']],
    tests: ['test/deliver/redis-budget.test.ts'],
  },
  {
    id: 'DB7',
    what: 'a process that is late keeps the count it has begun after a loss',
    file: 'src/migrations/agree-on-count.ts',
    edits: [['(await loadBudgetMark(staging, name))?.count ?? UNKNOWN_COUNT', 'count']],
    tests: ['test/migrations/agree-on-count.test.ts'],
  },
  {
    id: 'DC1',
    what: 'a body without a word of acceptance is believed',
    file: 'src/deliver/acceptance.ts',
    edits: [
      [
        "return KNOWN_STATUSES.includes(status) && isKnownYes(answer) ? 'accepted' : 'unproven';",
        "return 'accepted';",
      ],
    ],
    tests: ['test/deliver/acceptance.test.ts'],
  },
  {
    id: 'DC2',
    what: 'a declared status is believed with any body',
    file: 'src/deliver/acceptance.ts',
    edits: [["declared.fields === undefined && text === ''", 'declared.fields === undefined']],
    tests: ['test/deliver/acceptance.test.ts'],
  },
  {
    id: 'DC3',
    what: 'answers that prove nothing are asked for again for ever',
    file: 'src/deliver/deliver.ts',
    edits: [['unproven === limit', 'unproven === 99']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DC4',
    what: 'a destination that refuses everything turns a history into rejects',
    file: 'src/deliver/refusals/refusal-guard.ts',
    edits: [['if (inARow >= REFUSALS_IN_A_ROW) throw', 'if (inARow < 0) throw']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DC5',
    what: 'bad events with good ones between pause a migration',
    file: 'src/deliver/refusals/refusal-guard.ts',
    edits: [
      [
        `      inARow = 0;
`,
        '',
      ],
    ],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DC7',
    what: 'small batches are rejected whole, one after the other, though what is sent again is taken',
    file: 'src/deliver/refusals/refusal-guard.ts',
    edits: [['if (batchesInARow >= BATCHES_IN_A_ROW) throw', 'if (batchesInARow < 0) throw']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DC8',
    what: 'an event that is only sent again counts as a success between refusals',
    file: 'src/deliver/deliver.ts',
    edits: [['if (batch !== known) refusals.noteAccepted(', 'refusals.noteAccepted(']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DC9',
    what: 'a process that has had nothing accepted turns the end of a part into rejects',
    file: 'src/deliver/refusals/confirm-refusals.ts',
    edits: [['if (answer !== undefined || acceptRefusals) return refused;', 'return refused;']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DC6',
    what: 'requests stay small after a stray 413',
    file: 'src/deliver/size-cap.ts',
    edits: [
      [
        `      cap *= 2;
`,
        '',
      ],
    ],
    tests: ['test/deliver/size-cap.test.ts'],
  },
  {
    id: 'DJ1',
    what: 'the second job of one migration comes before the first of another',
    file: 'jobs/work-queue.ts',
    edits: [
      [
        `          priority: rank,
`,
        '',
      ],
    ],
    tests: ['test/jobs/fair-turns.test.ts'],
  },
  {
    id: 'DJ2',
    what: 'jobs that wait hold their slots',
    file: 'jobs/relief.ts',
    edits: [
      ['if (looking || underWay >= deps.most || !deps.isBlocked()) return;', 'if (deps.most > 0) return;'],
    ],
    tests: ['test/jobs/fair-turns.test.ts'],
  },
  {
    id: 'DJ3',
    what: 'jobs of a migration that waits are taken beside the slots too',
    file: 'jobs/worker.ts',
    edits: [
      ['if (!closing && isWaiting(getMigration(job))) {', 'if (closing && isWaiting(getMigration(job))) {'],
    ],
    tests: ['test/jobs/fair-turns.test.ts'],
  },
  {
    id: 'DJ4',
    what: 'a worker without the key takes the jobs that others could do again and again',
    file: 'jobs/worker.ts',
    edits: [['if (error instanceof UnableError) {', 'if (error instanceof UnableError && closing) {']],
    tests: ['test/jobs/worker.test.ts'],
  },
  {
    id: 'DKS',
    what: 'a known body is believed with any status',
    file: 'src/deliver/acceptance.ts',
    edits: [['KNOWN_STATUSES.includes(status) && isKnownYes(answer)', 'isKnownYes(answer)']],
    tests: ['test/deliver/acceptance.test.ts'],
  },
  {
    id: 'DKR',
    what: 'the last of two fields of one name is believed',
    file: 'src/deliver/acceptance.ts',
    edits: [["if (hasRepeatedName(text)) return 'unproven';", '']],
    tests: ['test/deliver/acceptance.test.ts'],
  },
  {
    id: 'DD1',
    what: 'a 403 to everything is cut down to rejects',
    file: 'src/deliver/deliver.ts',
    edits: [
      [
        "if (decision.kind === 'doubt' && batch !== known)",
        "if (decision.kind === 'halve' && batch === known)",
      ],
    ],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DD2',
    what: 'before anything was accepted, one event that meets a 403 pauses the migration',
    file: 'src/deliver/refusals/doubts.ts',
    edits: [["if (answer.kind === 'accepted') return;", '']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DD3',
    what: 'a firewall that blocks a large share makes rejects without anybody being asked',
    file: 'src/deliver/refusals/refusal-guard.ts',
    edits: [['doubtful < REFUSALS_IN_A_ROW ||', 'doubtful > 0 ||']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DD4',
    what: 'an event that the service always fails on is waited for without an end',
    file: 'src/deliver/refusals/doubts.ts',
    edits: [
      [
        'if (countEvents(range) === 1 && !findKnownGood()) return false;',
        'if (countEvents(range) > 0) return false;',
      ],
    ],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DD10',
    what: 'the last event of a migration pauses it at each resume, whatever the operator says',
    file: 'src/deliver/refusals/doubts.ts',
    edits: [['if (acceptRefusals && isAlone) return;', '']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DD8',
    what: 'a newer value about a person is sent before an older one that failed',
    file: 'src/deliver/refusals/doubts.ts',
    edits: [
      [
        'keepsOrder ? range.from : pickWitness(range, tries, WITNESSES)',
        'pickWitness(range, tries, WITNESSES)',
      ],
    ],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DD9',
    what: 'a merge that a failing service may have stored counts as refused, and another one is sent',
    file: 'src/identity/send-chunks.ts',
    edits: [['delivery.mayBeStored ? perhapsStored : refused', 'refused']],
    tests: ['test/identity/send-chunks.test.ts'],
  },
  {
    id: 'DK1',
    what: 'one 401 between accepted batches pauses the migration',
    file: 'src/deliver/deliver.ts',
    edits: [['decision.mayPass && knownGood &&', 'decision.mayPass && !knownGood &&']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DK2',
    what: 'a key that the destination takes back is tried for ever',
    file: 'src/deliver/deliver.ts',
    edits: [['knownGood && tries < KEY_REFUSALS_NEEDED)', 'knownGood && tries < 1e9)']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DK3',
    what: 'one 401 to what is asked because of a 403 pauses the migration',
    file: 'src/deliver/refusals/doubts.ts',
    edits: [["answer.kind === 'pause' && !mayPass)", "answer.kind === 'pause' && (mayPass || !mayPass))"]],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DK4',
    what: 'an event that always gets 503 with a time to come back is waited for without an end',
    file: 'src/deliver/deliver.ts',
    edits: [
      ["decision.kind === 'retry' && decision.isLimit;", "decision.kind === 'retry' && decision.slowDown;"],
    ],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DK5',
    what: 'events that meet a rate limit become rejects',
    file: 'src/deliver/classify.ts',
    edits: [['(status === 429 ? { isLimit: true }', '(status === 430 ? { isLimit: true }']],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'DD5',
    what: 'a rate limit that speaks of a quota pauses',
    file: 'src/deliver/classify.ts',
    edits: [['afterMs === undefined ? /billing|quota/i : /billing/i', '/billing|quota/i']],
    tests: ['test/deliver/classify.test.ts'],
  },
];

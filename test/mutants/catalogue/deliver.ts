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
    what: 'firstUse stays true',
    file: 'src/deliver/redis-budget.ts',
    edits: [
      [
        `    firstUse = false;
`,
        '',
      ],
    ],
    tests: ['test/deliver'],
  },
  {
    id: 'D26',
    what: 'Redis failure lets senders run free',
    file: 'src/deliver/redis-budget.ts',
    edits: [
      [
        '        await waitFor(getBackoffCeilingMs(attempt, REDIS_RETRY), signal);',
        `        if (attempt > 3) return [0, 0] as T;
        await waitFor(getBackoffCeilingMs(attempt, REDIS_RETRY), signal);`,
      ],
    ],
    tests: ['test/deliver'],
  },
  {
    id: 'D29',
    what: 'second half sent before the first',
    file: 'src/deliver/deliver.ts',
    edits: [['open.push(second, first)', 'open.push(first, second)']],
    tests: ['test/deliver'],
  },
  {
    id: 'D32',
    what: 'goes on starting tasks after a failure',
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
    edits: [['now - window / 10', 'now - window']],
    tests: ['test/deliver'],
  },
  {
    id: 'D22',
    what: 'dead head of the queue never passed over',
    file: 'src/deliver/budget-scripts.ts',
    edits: [['if at + grace >= now then break end', 'if true then break end']],
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
    edits: [
      ['const permit = await budget.take(events, signal);', 'const permit = await budget.take(0, signal);'],
    ],
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
    edits: [['this.offsets.length >= this.limits.events', 'this.offsets.length > this.limits.events']],
    tests: ['test/deliver'],
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
    edits: [
      ['isFilled(error) || isFilled(errors) || success === false', '[error, errors, success].length === 0'],
    ],
    tests: ['test/deliver/acceptance.test.ts', 'test/deliver/classify.test.ts'],
  },
  {
    id: 'D40',
    what: 'a destination that refuses what it accepted before is believed',
    file: 'src/deliver/confirm-refusals.ts',
    edits: [["  if (answer?.kind !== 'refused') return;", "  if (answer?.kind !== 'accepted') return;"]],
    tests: ['test/deliver/deliver.test.ts'],
  },
  {
    id: 'D41',
    what: 'events that were refused during a flood are not tried again',
    file: 'src/deliver/deliver.ts',
    edits: [['if (refused.length === 0 || options.acceptRefusals) return deliveries;', 'return deliveries;']],
    tests: ['test/deliver/deliver.test.ts'],
  },
];

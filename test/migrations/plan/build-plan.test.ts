import { describe, expect, test } from 'vitest';
import { mapped, rejected, skipped } from '../../../src/contract/outcome.ts';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { buildPlan, chooseFiles } from '../../../src/migrations/plan/build-plan.ts';
import { planInput, sampled, signups, targetEvent } from './plan-input.ts';

describe('the number of records', () => {
  test('is scaled up from the bytes that the sample took', () => {
    const plan = buildPlan(planInput());
    expect(plan.records).toEqual({ count: 100, exact: false });
    expect(plan.events).toEqual({ count: 100, exact: false });
  });

  test('of a file that was not sampled follows the average of those that were', () => {
    const plan = buildPlan(
      planInput({
        files: [
          { name: 'one.json.gz', bytes: 1_000 },
          { name: 'two.json.gz', bytes: 500 },
        ],
      }),
    );
    expect(plan.files).toEqual([
      { name: 'one.json.gz', bytes: 1_000, records: 100, sampled: true },
      { name: 'two.json.gz', bytes: 500, records: 50, sampled: false },
    ]);
    expect(plan.bytes).toBe(1_500);
    expect(plan.records.count).toBe(150);
  });

  test('is exact when every file was read to its end', () => {
    const sample = [
      { file: 'one.json.gz', bytesRead: 1_000, recordsRead: 10, complete: true, records: signups(10) },
    ];
    const plan = buildPlan(planInput({ sample }));
    expect(plan.records).toEqual({ count: 10, exact: true });
    expect(plan.events).toEqual({ count: 10, exact: true });
  });

  test('counts more records than were kept', () => {
    const sample = [
      { file: 'one.json.gz', bytesRead: 100, recordsRead: 50, complete: false, records: signups(10) },
    ];
    const plan = buildPlan(planInput({ sample }));
    expect(plan.records.count).toBe(500);
    expect(plan.eventsByName).toEqual([{ event: 'Signed up', inSample: 10, estimated: 500 }]);
  });

  test('is none for no files, empty files and an empty sample', () => {
    const empty = { file: 'one.json.gz', bytesRead: 0, recordsRead: 0, complete: true, records: [] };
    expect(
      buildPlan(planInput({ files: [{ name: 'one.json.gz', bytes: 0 }], sample: [empty] })).records.count,
    ).toBe(0);
    expect(buildPlan(planInput({ files: [], sample: [] })).events.count).toBe(0);
  });
});

describe('the plan', () => {
  const records = [
    sampled(mapped([targetEvent('Signed up', { timestamp: '2023-05-02T00:00:00.000Z' })]), {
      user: 'ada',
      dma: 'x',
    }),
    sampled(mapped([targetEvent('$pageview', { timestamp: '2021-01-01T00:00:00.000Z' })]), {
      user: 'bob',
      dma: 'y',
      zip: 1,
    }),
    sampled(mapped([targetEvent('$pageview'), targetEvent('Extra')])),
    sampled(skipped('session_marker')),
    sampled(rejected('no_identity', 'neither user_id nor device_id')),
    sampled(rejected('no_identity', 'a later one')),
    sampled(rejected('bad_timestamp', 'event_time "x" is no time')),
    { text: '{broken', fields: undefined, outcome: rejected('unreadable', 'not JSON') },
  ];
  const sample = [{ file: 'one.json.gz', bytesRead: 100, recordsRead: 8, complete: false, records }];
  const plan = buildPlan(planInput({ sample }));

  test('counts events by name, most frequent first', () => {
    expect(plan.eventsByName).toEqual([
      { event: '$pageview', inSample: 2, estimated: 20 },
      { event: 'Extra', inSample: 1, estimated: 10 },
      { event: 'Signed up', inSample: 1, estimated: 10 },
    ]);
    expect(plan.events.count).toBe(40);
  });

  test('tells the time span of the sample', () => {
    expect(plan.timeSpan).toEqual({ from: '2021-01-01T00:00:00.000Z', to: '2023-05-02T00:00:00.000Z' });
  });

  test('names the fields that no map reads', () => {
    expect(plan.fields).toEqual({
      mapped: ['user'],
      unmapped: [
        { field: 'dma', inSample: 2 },
        { field: 'zip', inSample: 1 },
      ],
    });
    const all = buildPlan(
      planInput({ sample, source: { type: 'csv', timezone: 'UTC', knownFields: 'all' } }),
    );
    expect(all.fields).toEqual({ mapped: ['user', 'dma', 'zip'], unmapped: [] });
  });

  test('expects rejects and skips by reason, with the first example of each', () => {
    expect(plan.skips).toEqual([{ reason: 'session_marker', inSample: 1, estimated: 10 }]);
    expect(plan.rejects).toEqual([
      {
        reason: 'no_identity',
        inSample: 2,
        estimated: 20,
        file: 'one.json.gz',
        example: 'neither user_id nor device_id',
      },
      {
        reason: 'bad_timestamp',
        inSample: 1,
        estimated: 10,
        file: 'one.json.gz',
        example: 'event_time "x" is no time',
      },
      { reason: 'unreadable', inSample: 1, estimated: 10, file: 'one.json.gz', example: 'not JSON' },
    ]);
  });

  test('shows pairs of different events first', () => {
    expect(plan.pairs.map(({ event }) => event[0])).toEqual([
      ['event', 'Signed up'],
      ['event', '$pageview'],
      ['event', '$pageview'],
    ]);
    expect(plan.pairs[0]).toEqual({
      file: 'one.json.gz',
      record: [
        ['user', 'ada'],
        ['dma', 'x'],
      ],
      event: [
        ['event', 'Signed up'],
        ['distinct_id', 'ada'],
        ['timestamp', '2023-05-02T00:00:00.000Z'],
        ['uuid', '6f0c1c9e-0f0a-5c55-9a52-5b1c2d3e4f50'],
        ['plan', 'pro'],
      ],
    });
  });

  test('is plain JSON, with every digit of a long number', () => {
    const fields = {
      user: 'ada',
      order: new ExactNumber('1234567890123456789'),
      nothing: null,
      empty: {},
      list: [1],
    };
    const one = buildPlan(
      planInput({
        sample: [
          {
            file: 'f',
            bytesRead: 1,
            recordsRead: 1,
            complete: true,
            records: [sampled(mapped([targetEvent('x')]), fields)],
          },
        ],
      }),
    );
    expect(one.pairs[0]?.record).toEqual([
      ['user', 'ada'],
      ['order', '1234567890123456789'],
      ['list', '[1]'],
    ]);
    expect(JSON.parse(JSON.stringify(one))).toEqual(one);
    expect(JSON.stringify(one)).toContain('1234567890123456789');
  });
});

test('duration is what the budget allows, and nothing where there is none', () => {
  const slow = { eventsPerMinute: 10, requestsInFlight: 1, batch: { events: 10, bytes: 1 } };
  expect(buildPlan(planInput({ limits: slow })).durationMinutes).toBe(10);
  const { eventsPerMinute: _, ...unlimited } = slow;
  expect(buildPlan(planInput({ limits: unlimited })).durationMinutes).toBeUndefined();
});

test('flags events younger than 48 hours, to the millisecond', () => {
  const at = (timestamp: string) => sampled(mapped([targetEvent('x', { timestamp })]));
  const records = [
    at('2025-12-30T00:00:00.000Z'),
    at('2025-12-30T00:00:00.001Z'),
    at('2026-02-01T00:00:00.000Z'),
  ];
  const sample = [{ file: 'f', bytesRead: 1, recordsRead: 3, complete: true, records }];
  expect(buildPlan(planInput({ sample })).youngEvents).toBe(2);
});

test('chooses the first, the last and evenly between when there are too many files', () => {
  const files = Array.from({ length: 101 }, (_, index) => index);
  expect(chooseFiles(files, 5)).toEqual([0, 25, 50, 75, 100]);
  expect(chooseFiles(files, 1)).toEqual([0]);
  expect(chooseFiles([1, 2], 5)).toEqual([1, 2]);
  expect(chooseFiles([], 5)).toEqual([]);
});

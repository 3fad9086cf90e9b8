import { describe, expect, it } from 'vitest';
import type { PartMeta } from '../../../src/contract/part.ts';
import type { Receipt, RecordCounts } from '../../../src/contract/progress.ts';
import type { Report } from '../../../src/migrations/report/report.ts';
import { listErrors } from '../../../src/migrations/status/errors.ts';
import { MAX_COLUMNS, MAX_ROWS, toHeatMap } from '../../../src/migrations/status/heat-map.ts';
import type { Terms } from '../../../src/migrations/status/terms.ts';
import { type FileTotals, TotalsBuilder, toOutcome } from '../../../src/migrations/status/totals.ts';
import {
  type StatusFacts,
  shouldRun,
  toMigrationStatus,
  toMigrationView,
} from '../../../src/migrations/status/view.ts';
import type { Control } from '../../../src/state/control.ts';
import type { Progress } from '../../../src/state/progress-note.ts';

const counts = (read: number, rejected = 0): RecordCounts => ({
  read,
  delivered: read - rejected,
  skipped: 0,
  duplicate: 0,
  rejected,
});

const part = (number: number): PartMeta => ({
  id: `0123456789ab/0000${number}`,
  fileId: '0123456789ab',
  file: 'export.csv',
  number,
  format: { kind: 'json' },
  records: 10,
  bytes: 1_000,
  sha256: 'a'.repeat(64),
  etag: 'e',
  firstRecord: number * 10,
});

const receipt = (number: number): Receipt => ({
  part: part(number).id,
  file: 'export.csv',
  mapping: 'csv@1',
  tally: {
    counts: counts(10, 2),
    events: { sent: 9, accepted: 8 },
    byDay: { '2024-01-01': counts(10, 2) },
    byEvent: {},
    byReason: { no_identity: 2 },
  },
  rejectSegments: [],
});

const control = (state: Control['state'], reason = ''): Control => ({
  state,
  reason,
  at: '2024-02-01T00:00:00Z',
});

function toFacts(given: Partial<StatusFacts> = {}): StatusFacts {
  const totals = new TotalsBuilder();
  totals.addPart(part(0));
  totals.addPart(part(1));
  totals.addReceipt(receipt(0));
  return {
    record: {
      name: 'shop',
      createdAt: '2024-01-31T00:00:00Z',
      destination: 'bundled API',
      mapping: 'csv@1',
      files: [{ bytes: 300 }, { bytes: 400 }],
    },
    control: control('running'),
    isLeased: true,
    note: undefined,
    totals: totals.build(),
    ...given,
  };
}

const terms: Terms = {
  source: 'csv',
  eventsPerMinute: 10_000,
  failAbove: '1%',
  persons: 'send',
  sharedDevices: 'none',
  overwrite: false,
};

const note: Progress = { ...counts(15, 3), phase: 'import', recordsPerSecond: 5, events: 12 };

describe('the status of a migration', () => {
  it('adds up parts and receipts, with bytes, whichever of a part and its receipt came first', () => {
    const expected = {
      state: 'running',
      parts: { done: 1, staged: 2 },
      records: { staged: 20 },
      counts: counts(10, 2),
      events: 8,
      bytes: { source: 700, staged: 2_000, imported: 1_000 },
      since: '2024-02-01T00:00:00Z',
    };
    expect(toMigrationStatus(toFacts())).toMatchObject(expected);
    const late = new TotalsBuilder();
    late.addReceipt(receipt(0));
    late.addPart(part(1));
    late.addPart(part(0));
    expect(toMigrationStatus(toFacts({ totals: late.build() }))).toMatchObject(expected);
  });

  it('is what its receipts say of one that was removed, whose parts are gone', () => {
    const left = new TotalsBuilder();
    left.addReceipt(receipt(0));
    const facts = toFacts({ control: control('removed'), isLeased: false, totals: left.build() });
    expect(toMigrationStatus(facts)).toMatchObject({
      state: 'removed',
      parts: { done: 1, staged: 1 },
      records: { staged: 10 },
      counts: counts(10, 2),
      reason: expect.stringContaining('its counts stay'),
    });
    const view = { samples: new Map(), history: [], report: undefined, verification: undefined, terms };
    expect(toMigrationView({ ...facts, ...view }).heatMap.rows).toMatchObject([
      { parts: { done: 1, staged: 1 } },
    ]);
  });

  it('takes what the producer noted of parts under way, as long as receipts do not know more', () => {
    expect(toMigrationStatus(toFacts({ note }))).toMatchObject({ counts: counts(15, 3), events: 12 });
    const older = { ...note, ...counts(9), events: 7 };
    expect(toMigrationStatus(toFacts({ note: older }))).toMatchObject({ counts: counts(10, 2), events: 8 });
  });

  it.each([
    [{}, undefined],
    [{ heldByBudget: true, eventsPerMinute: 10_000 }, 'the budget of 10,000 events a minute'],
    [{ heldByBudget: true, waitingFor: 'Redis: LOADING' }, 'Redis: LOADING'],
  ])('says what a run waits for: %j', (more, waitingFor) => {
    expect(toMigrationStatus(toFacts({ note: { ...note, ...more } })).run?.waitingFor).toBe(waitingFor);
  });

  it.each([
    [undefined, true, 'running'],
    [control('running'), false, 'interrupted'],
    [control('running'), undefined, 'unknown'],
    [control('finished'), undefined, 'finished'],
    [control('paused', 'wrong key'), true, 'paused'],
    [control('finished'), false, 'finished'],
  ] as const)('is for control %j and lease %j: %s', (of, isLeased, state) => {
    const status = toMigrationStatus(toFacts({ control: of, isLeased, note }));
    expect(status.state).toBe(state);
    expect(status.run !== undefined).toBe(state === 'running');
    expect(shouldRun(of)).toBe(['running', 'interrupted', 'unknown'].includes(state));
  });
});

it('shows reasons with their outcome and samples, the most frequent first', () => {
  const totals = {
    ...toFacts().totals,
    byReason: new Map([
      ['no_identity', 2],
      ['before_window', 7],
    ]),
  };
  const sample = { place: 'export.csv, line 3', detail: 'no id', text: '{}' };
  const view = toMigrationView({
    ...toFacts({ totals }),
    samples: new Map([['no_identity', [sample]]]),
    history: [control('running')],
    report: undefined,
    verification: undefined,
    terms,
  });
  expect(view.reasons).toEqual([
    { outcome: 'skipped', reason: 'before_window', count: 7, samples: [] },
    { outcome: 'rejected', reason: 'no_identity', count: 2, samples: [sample] },
  ]);
  expect(['feeds_people', 'repeated', 'refused'].map(toOutcome)).toEqual([
    'skipped',
    'duplicate',
    'rejected',
  ]);
});

it('lists what ended runs and what failed in the last one, and nothing that an operator did', () => {
  const at = '2024-02-01T00:00:00Z';
  const history: Control[] = [
    control('finished'),
    { state: 'paused', reason: 'wrong key', at, epoch: 3 },
    control('paused', 'asked for'),
    { state: 'running', reason: 'began', at, epoch: 2 },
    { state: 'stopped', reason: 'disk full', at, epoch: 1 },
  ];
  const failures = [{ what: 'import-part 1', reason: 'damaged' }];
  const report = { unfinished: { failures } } as unknown as Report;
  expect(listErrors(history, report)).toEqual([
    { what: 'import-part 1', reason: 'damaged' },
    { what: 'paused', reason: 'wrong key', at },
    { what: 'stopped', reason: 'disk full', at },
  ]);
  expect(listErrors(history.slice(0, 1), undefined)).toEqual([]);
});

describe('the heat map', () => {
  const file = (name: string, days: Record<string, RecordCounts>): FileTotals => ({
    file: name,
    parts: { done: 1, staged: 2 },
    records: 5,
    byDay: new Map(Object.entries(days)),
  });

  it('has a row for each file and a column for each day, in order', () => {
    const map = toHeatMap([
      file('b10.csv', { '2024-01-02': counts(5, 1) }),
      file('b9.csv', { '2024-01-01': counts(3), unknown: counts(1) }),
    ]);
    expect(map.columns.map(({ from }) => from)).toEqual(['2024-01-01', '2024-01-02', 'unknown']);
    expect(map.rows).toMatchObject([
      { file: 'b9.csv', files: 1, cells: [counts(3), undefined, counts(1)] },
      { file: 'b10.csv', parts: { done: 1, staged: 2 }, cells: [undefined, counts(5, 1), undefined] },
    ]);
  });

  it('joins neighbours where there are too many, and loses no record', () => {
    const day = (index: number) => new Date(Date.UTC(2020, 0, 1 + index)).toISOString().slice(0, 10);
    const files = Array.from({ length: 1_000 }, (_, index) => file(`f${index}`, { [day(index)]: counts(2) }));
    const { rows, columns } = toHeatMap(files);
    expect(rows.length).toBeLessThanOrEqual(MAX_ROWS);
    expect(columns.length).toBeLessThanOrEqual(MAX_COLUMNS);
    expect(rows[0]).toMatchObject({ file: 'f0 … f33', files: 34, parts: { done: 34, staged: 68 } });
    const read = rows.flatMap(({ cells }) => cells).reduce((sum, cell) => sum + (cell?.read ?? 0), 0);
    expect(read).toBe(2_000);
  });
});

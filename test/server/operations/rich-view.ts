import type { RecordCounts } from '../../../src/contract/progress.ts';
import { buildReport } from '../../../src/migrations/report/build-report.ts';
import { TotalsBuilder } from '../../../src/migrations/status/totals.ts';
import { type MigrationView, toMigrationView, type ViewFacts } from '../../../src/migrations/status/view.ts';
import { finishedInput } from '../../migrations/report/sample-receipts.ts';

const DAYS = 30;
const FILES = 12;
const AT = '2024-05-01T10:00:00Z';
/** Without a blank to break it at. */
const LONG = 'a-very-long-name-without-any-blank-'.repeat(3);

/** Of a large migration with much to say, in long words: it runs, and waits for its budget. */
export const createRunningView = (): MigrationView => toMigrationView(createFacts());

/** The same, ended with something that failed for good. */
export function createStoppedView(): MigrationView {
  const facts = createFacts();
  const failures = [
    { what: `import-part ${LONG}/00001`, reason: 'the part is damaged: restore it from a backup' },
  ];
  const report = { ...buildReport(finishedInput()), stamps: { $import_job_id: LONG } };
  const [stopped] = facts.history;
  return toMigrationView({
    ...facts,
    control: stopped,
    replayed: {
      replays: [
        { migration: `${'n'.repeat(54)}.replay-1`, state: 'finished', count: 123_456, left: 123_456 },
      ],
      left: 123_456,
    },
    report: { ...report, balanced: false, problems: [LONG], unfinished: { ...report.unfinished, failures } },
  });
}

function createFacts(): ViewFacts {
  const detail = `the column "${LONG}" holds no time between 1970 and 2100`;
  const samples = [{ place: `${LONG}.json → member.json, line 123456`, detail, text: `{"${LONG}":1}` }];
  return {
    record: {
      name: 'shop',
      createdAt: AT,
      destination: `https://${LONG}.example.com`,
      mapping: 'amplitude@3',
      files: Array.from({ length: FILES }, () => ({ bytes: 123_456_789 })),
    },
    control: { state: 'running', reason: '', at: AT, epoch: 3 },
    isLeased: true,
    note: {
      ...countRecords(250_000),
      phase: 'import',
      recordsPerSecond: 166,
      secondsLeft: 123_456,
      heldByBudget: true,
      eventsPerMinute: 10_000,
      personJobs: { done: 3, total: 128 },
      throughput: {
        fromMs: 0,
        stepMs: 600_000,
        events: Array.from({ length: 200 }, (_, at) => 90_000 + at),
        total: 1,
      },
    },
    totals: createTotals(),
    samples: new Map([['bad_timestamp', samples]]),
    history: [
      { state: 'stopped', reason: `1 failed for good: ${LONG}`, at: AT, epoch: 3 },
      { state: 'paused', reason: 'the destination does not accept the project API key', at: AT, epoch: 2 },
      { state: 'paused', reason: 'asked for on the page of the migration', at: AT },
    ],
    report: undefined,
    verification: {
      at: AT,
      unexplained: 1,
      comparisons: [
        {
          old: 'report',
          now: 'destination',
          total: { key: 'all', old: 249_970, now: 249_971, causes: [], unexplained: 1 },
          tables: [
            {
              by: 'event',
              rows: [
                { key: LONG, old: 0, now: 1, causes: [], unexplained: 1 },
                {
                  key: 'Opened',
                  old: 12,
                  now: 2,
                  causes: [{ cause: 'renamed', count: -10, name: LONG }],
                  unexplained: 0,
                },
              ],
              more: 3,
            },
          ],
        },
      ],
    },
    terms: {
      source: 'amplitude',
      window: { from: '2020-01-01T00:00:00.000Z', until: '2024-01-01T00:00:00.000Z' },
      eventsPerMinute: 10_000,
      approval: LONG,
      failAbove: '1%',
      persons: 'hold',
      sharedDevices: 'last',
      overwrite: true,
    },
    webhook: undefined,
  };
}

const countRecords = (read: number): RecordCounts => ({
  read,
  delivered: read - 30,
  skipped: 10,
  duplicate: 10,
  rejected: 10,
});

function createTotals(): ViewFacts['totals'] {
  const totals = new TotalsBuilder();
  const days = Array.from({ length: DAYS }, (_, day) =>
    new Date(day * 86_400_000).toISOString().slice(0, 10),
  );
  for (let file = 0; file < FILES; file += 1) {
    const id = `${file}`.padStart(12, '0');
    const name = `${LONG}${file}.json.gz`;
    const records = 30_000;
    const part = { id: `${id}/00000`, fileId: id, file: name, number: 0, firstRecord: 0 };
    totals.addPart({ ...part, format: { kind: 'json' }, records, bytes: 9_876_543, sha256: '', etag: '' });
    totals.addReceipt({
      part: part.id,
      file: name,
      mapping: 'amplitude@3',
      rejectSegments: [],
      tally: {
        counts: countRecords(records),
        events: { sent: records, accepted: records },
        byDay: Object.fromEntries(days.map((day, at) => [day, countRecords(100 + at * 997)])),
        byEvent: {},
        byReason: { bad_timestamp: 10, session_marker: 10, repeated: 10 },
      },
    });
  }
  return totals.build();
}

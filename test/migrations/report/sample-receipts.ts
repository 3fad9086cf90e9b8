import type { Receipt } from '../../../src/contract/progress.ts';
import type { ReportInput } from '../../../src/migrations/report/build-report.ts';
import { ReceiptTotals } from '../../../src/migrations/report/receipt-totals.ts';
import { type CountedOutcome, TallyBuilder } from '../../../src/pipeline/tally.ts';

const DAY = '2023-11-06';

export function makeReceipt(part: string, file: string, outcomes: readonly CountedOutcome[]): Receipt {
  const tally = new TallyBuilder();
  for (const outcome of outcomes) {
    tally.addOutcome(outcome);
    if (outcome.outcome === 'delivered') tally.addEvents(1, 1);
  }
  return { part, file, mapping: 'amplitude@1', tally: tally.build(), rejectSegments: [] };
}

export const delivered = (event: string, times = 1): CountedOutcome[] =>
  Array.from({ length: times }, () => ({ outcome: 'delivered', day: DAY, event }));

export const rejected = (reason: string): CountedOutcome => ({
  outcome: 'rejected',
  reason,
  day: 'unknown',
  event: '(none)',
});

/** Two parts of one file, all done. */
export function finishedInput(): ReportInput {
  const totals = new ReceiptTotals();
  totals.add(
    makeReceipt('f1/00000', 'export.zip', [...delivered('$pageview', 1_200), rejected('no_identity')]),
  );
  totals.add(
    makeReceipt('f1/00001', 'export.zip', [
      ...delivered('Order Completed', 3),
      { outcome: 'skipped', reason: 'session_marker', day: 'unknown', event: '(none)' },
      { outcome: 'duplicate', reason: 'repeated', day: DAY, event: '$pageview' },
    ]),
  );
  return {
    migration: 'shop',
    mapping: 'amplitude@1',
    destination: 'https://analytics.example.com/',
    totals,
    parts: [
      { id: 'f1/00000', records: 1_201 },
      { id: 'f1/00001', records: 5 },
    ],
    stagedFiles: [{ fileId: 'f1', file: 'export.zip', parts: 2, records: 1_206 }],
    unstagedFiles: [],
    persons: {
      sent: {
        people: {
          pairs: 2,
          persons: 3,
          groups: 1,
          setAside: { shared_device: 1 },
          setAsideSample: [{ reason: 'shared_device', id: 'tablet', users: ['u1', 'u2'], userCount: 2 }],
        },
        events: { sent: 7, accepted: 6 },
        refused: [{ event: '$identify', distinctId: 'u1', uuid: 'x', detail: 'too long' }],
      },
      isHeld: false,
      releasedBy: undefined,
      lost: [],
    },
    failures: [],
    lostObjects: [],
    repeats: {
      rows: 1_203,
      total: { duplicate: 0, rejected: 0 },
      byFile: {},
      byDay: {},
      byEvent: {},
      rejectSegments: [],
    },
    partsWithoutFingerprints: 0,
  };
}

import { describe, expect, it } from 'vitest';
import { renderComparison } from '../../../../src/cli/render/comparison/render-comparison.ts';
import { renderComparisonPage } from '../../../../src/cli/render/comparison/render-comparison-page.ts';
import { addRows, type Cause, toRow } from '../../../../src/migrations/verify/comparison.ts';
import type { Verification } from '../../../../src/migrations/verify/verify.ts';
import { CAUSES } from '../../../../src/migrations/verify/words.ts';

const days = [
  toRow('2024-02-01', 10, 7, [
    { cause: 'skipped', count: -1 },
    { cause: 'time_zone', count: -2 },
  ]),
  toRow('2024-02-02', 5, 7, [{ cause: 'time_zone', count: 2 }]),
  toRow('2024-02-03', 4, 4),
  toRow('2024-02-04', 9, 1),
];
const verification: Verification = {
  migration: 'web',
  replays: ['web.replay-1'],
  destination: 'https://analytics.example.com',
  comparisons: [
    {
      old: 'vendor',
      now: 'report',
      total: addRows(days),
      tables: [
        { by: 'day', rows: days },
        {
          by: 'event',
          rows: [toRow('<b>\u001b[31m', 3, 0, [{ cause: 'renamed', count: -3, name: '$pageview' }])],
        },
        { by: 'users', rows: [toRow('2024-02', 2, 2)] },
      ],
    },
  ],
  synthetic: { sent: 4, held: 3 },
  notes: ['A note.'],
  unexplained: 2,
};
const equal: Verification = {
  ...verification,
  comparisons: [
    {
      old: 'report',
      now: 'destination',
      total: toRow('all', 1, 1),
      tables: [{ by: 'day', rows: [toRow('2024-02-01', 1, 1)] }],
    },
  ],
  notes: [],
  unexplained: 0,
};

describe('in a terminal', () => {
  it('rows that nothing explains come first, and equal ones are left out', () => {
    expect(
      renderComparison(verification),
    ).toBe(`Migration web, with web.replay-1 → https://analytics.example.com

The vendor's counts against the report
  all events: vendor 28, report 19: −1 skipped, −8 UNEXPLAINED

Events by day (UTC)
  day         vendor  report  difference  why
  2024-02-04       9       1  −8          −8 UNEXPLAINED
  2024-02-01      10       7  −3          −1 skipped, −2 over midnight
  2024-02-02       5       7  +2          +2 over midnight

Events by name
  event     vendor  report  difference  why
  <b>�[31m       3       0  −3          −3 renamed to $pageview
  Unique users by month (UTC): 1 row, all equal

About persons and groups: 4 events were sent, 3 are there.
A note.

DIFFERENT: 2 rows that nothing explains.`);
  });

  it('says that all is equal', () => {
    const text = renderComparison(equal);
    expect(text).toContain('all events: report 1, destination 1\n');
    expect(text).toMatch(/\nEqual\.$/);
  });
});

describe('as a page', () => {
  it('colours each row and says why in words, without a script or a file beside it', async () => {
    const page = await renderComparisonPage(verification, new Date('2026-01-01T10:30:00Z'));
    expect(page).toContain('<tr class="unexplained"><th scope="row">2024-02-04</th>');
    expect(page).toContain('<tr class="explained"><th scope="row">2024-02-02</th>');
    expect(page).not.toContain('<th scope="row">2024-02-03</th>');
    expect(page).toContain('&lt;b&gt;');
    expect(page).not.toMatch(/<script|https?:\/\/(?!analytics)/);
    expect(page).not.toContain('\u001b');
    expect(page).toContain(CAUSES.time_zone.why.replace("'", '&#39;'));
    expect(page).not.toContain(CAUSES.merged_persons.why);
    expect(page).toContain('2026-01-01 10:30 UTC');
    expect(page).toContain('prefers-color-scheme: dark');
  });

  it('has no legend where nothing needs one', async () => {
    const page = await renderComparisonPage(equal, new Date(0));
    expect(page).toContain('1 row, all equal.');
    expect(page).not.toContain('What explains');
  });
});

it('has words for every cause', () => {
  const causes = Object.keys(CAUSES) as Cause[];
  for (const cause of causes) expect(CAUSES[cause].why).toMatch(/\.$/);
  expect(causes).toHaveLength(9);
});

import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { renderReport } from '../../../src/cli/render/render-report.ts';
import { measureWidth } from '../../../src/cli/render/text-table.ts';
import { buildReport } from '../../../src/migrations/report/build-report.ts';
import { ReceiptTotals } from '../../../src/migrations/report/receipt-totals.ts';
import { delivered, finishedInput, makeReceipt, rejected } from '../../migrations/report/sample-receipts.ts';

test('reads like this', () => {
  expect(renderReport(buildReport(finishedInput()))).toMatchInlineSnapshot(`
    "Migration shop
      amplitude@1 → https://analytics.example.com

    Records
                 records  share
      read         1,206  100.00%
      delivered    1,203   99.75%
      skipped          1    0.08%
      duplicate        1    0.08%
      rejected         1    0.08%
    The books balance: every record read has exactly one outcome.

    Events
                 events
      sent        1,203
      accepted    1,203
      distinct    1,203
      synthetic       6

    Skipped, repeated and rejected
      reason          records
      no_identity           1
      repeated              1
      session_marker        1

    Persons
                               ids
      merged into their user     2
      persons with properties    3
      groups                     1
      unmerged: shared_device    1
        shared_device tablet: seen with 2 (u1, u2)
      events about persons and groups refused: 1
        refused: $identify of u1: too long

    By file
      file         read  delivered  skipped  duplicate  rejected
      export.zip  1,206      1,203        1          1         1

    By day
      day          read  delivered  skipped  duplicate  rejected
      2023-11-06  1,204      1,203        0          1         0
      unknown         2          0        1          0         1

    By event
      event             read  delivered  skipped  duplicate  rejected
      $pageview        1,201      1,200        0          1         0
      Order Completed      3          3        0          0         0
      (none)               2          0        1          0         1"
  `);
});

test('names files of which every record was rejected, however few of all records they are', () => {
  const totals = new ReceiptTotals();
  totals.add(makeReceipt('f0/00000', 'export.json', delivered('Opened', 900)));
  expect(renderReport(buildReport({ ...finishedInput(), totals }))).not.toContain(
    'every record was rejected',
  );
  for (let number = 1; number <= 7; number += 1)
    totals.add(
      makeReceipt(`f${number}/00000`, `image-${number}.png`, Array(number).fill(rejected('unreadable'))),
    );
  const text = renderReport(buildReport({ ...finishedInput(), totals }));
  expect(text).toContain(`  Of 7 files every record was rejected, so that nothing in them was imported:
    image-1.png (1)
    image-2.png (2)`);
  expect(text).toContain('… and 2 more');
  expect(text).toContain('See why: backhaul rejects show shop');
});

const awkward = () => {
  const totals = new ReceiptTotals();
  for (let number = 0; number < 40; number += 1) {
    const file = `s3://bucket/a/very/long/prefix/that/never/seems/to/end/and/goes/on/export_${number}.json.gz`;
    totals.add(
      makeReceipt(`f${number}/00000`, file, delivered(`Event ${'🚀'.repeat(60)}${number}\u001b[31m\r\n`, 3)),
    );
  }
  return buildReport({ ...finishedInput(), totals, parts: [], stagedFiles: [] });
};

test.each([80, 100])('no line is wider than %d columns, and none steers the terminal', (width) => {
  const text = renderReport(awkward(), { width });
  for (const line of text.split('\n')) expect(measureWidth(line)).toBeLessThanOrEqual(width);
  expect(
    Array.from(text).every((character) => character === '\n' || (character >= ' ' && character !== '\u007f')),
  ).toBe(true);
});

test('a long table is cut, and says by how much', () => {
  const text = renderReport(awkward(), { rows: 10 });
  expect(text.match(/… and 30 more/g)).toHaveLength(2);
  expect(text).toContain('_9.json.gz');
  expect(text).not.toContain('_11.json.gz');
});

test('colours come only when asked for, and change no character', () => {
  const report = buildReport(finishedInput());
  const plain = renderReport(report);
  const coloured = renderReport(report, { colour: true });
  expect(coloured).not.toBe(plain);
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});

test('books that do not balance are the loudest thing there', () => {
  const input = finishedInput();
  const text = renderReport(buildReport({ ...input, parts: [{ id: 'f1/00000', records: 9 }] }));
  expect(text).toContain('THE BOOKS DO NOT BALANCE');
  expect(text).toContain('part f1/00000 holds 9 records');
  expect(text).not.toContain('The books balance');
});

test('what is not finished is said at the end', () => {
  const { persons: _, ...input } = finishedInput();
  const text = renderReport(
    buildReport({
      ...input,
      parts: [...input.parts, { id: 'f1/00002', records: 4 }],
      unstagedFiles: ['late.zip'],
      failures: [{ what: 'import-part f1/00002', reason: 'gone' }],
    }),
  );
  expect(text.slice(text.indexOf('Not finished'))).toBe(
    [
      'Not finished',
      '  failed: import-part f1/00002: gone',
      '  not staged to its end: late.zip',
      '  parts without a receipt: 1 (f1/00002)',
      '  persons and groups are not sent yet',
    ].join('\n'),
  );
});

test('a tiny share is never rounded away', () => {
  const totals = new ReceiptTotals();
  totals.add(makeReceipt('f/0', 'a.gz', delivered('a', 30_000)));
  const receipt = makeReceipt('f/1', 'a.gz', [
    { outcome: 'rejected', reason: 'no_identity', day: 'unknown', event: '' },
  ]);
  totals.add(receipt);
  const text = renderReport(buildReport({ ...finishedInput(), totals, parts: [], stagedFiles: [] }));
  expect(text).toContain('<0.01%');
  expect(text).toContain('>99.99%');
});

test('says how stamped events are found, compared and undone', () => {
  const input = finishedInput();
  const text = renderReport(
    buildReport({ ...input, stamps: { $import_job_id: "o'shop", source: 'amplitude' } }),
  );
  expect(text.slice(text.indexOf('At the destination'))).toMatchInlineSnapshot(`
    "At the destination
      Find: every imported event carries $import_job_id = "o'shop" and source =
      "amplitude". In a query:
          where properties.$import_job_id = 'o\\'shop'
      Compare: count(distinct uuid) under that filter is 1,209, by day from
      2023-11-06 to 2023-11-06; replays of its rejects carry the same name and add
      to it. Live events are those without $import_job_id. A day that has both is a
      window that overlaps live tracking.
      Undo: the service deletes no imported events by themselves. It deletes whole
      persons with all of their events, live ones too (DELETE
      …/persons/:id/?delete_events=true); values set and merges made stay. So
      rehearse first: leave "destination" out of the manifest, or use a new project."
  `);
});

test('says of a replay what it sent itself, and that the filter counts more', () => {
  const stamps = { $import_job_id: 'shop' };
  const text = renderReport(buildReport({ ...finishedInput(), stamps, replayOf: 'shop' }));
  const [compare] = /Compare:[\s\S]*Live/.exec(text) ?? [];
  expect(compare?.replace(/\s+/g, ' ')).toBe(
    'Compare: this replay sent 1,209 different events, by day from 2023-11-06 to 2023-11-06. count(distinct uuid) under that filter is of shop and all of its replays together; "backhaul verify shop" compares it. Live',
  );
});

test('says nothing of the way back where nothing was sent, or nothing is stamped', () => {
  const report = { ...buildReport(finishedInput()), stamps: { $import_job_id: 'shop' } };
  const nothing = { sent: 0, accepted: 0, synthetic: 0 };
  expect(renderReport({ ...report, events: nothing })).not.toContain('At the destination');
  expect(renderReport(buildReport(finishedInput()))).not.toContain('At the destination');
});

test('says that it does not count all about persons where staging has lost it', () => {
  const { persons, ...input } = finishedInput();
  if (!persons) throw new Error('it has persons');
  const lost = ['shop/people/ended/00000003/'];
  const text = renderReport(buildReport({ ...input, persons: { ...persons, lost } }));
  expect(text).toContain('More was sent about persons and groups than is counted here');
  expect(text).toContain(`staging has lost ${lost[0]}. Restore it`);
});

test('says of how many shared devices the merge is, or may be, another one by now', () => {
  const report = buildReport(finishedInput());
  const people = { ...report.people, setAside: { merged_otherwise: 2 } };
  const text = renderReport({ ...report, people });
  expect(text).toContain('2 shared devices were merged before into one of their users');
  expect(text).toContain('Exports that are held and released together');
});

test('compares unique users by month, and says what keeps them apart', () => {
  const report = buildReport(finishedInput());
  const people = {
    ...report.people,
    setAside: { ...report.people.setAside, several_users: 2, no_user: 1 },
    uniques: {
      '2023-11': { vendor: 900, destination: 903 },
      '2023-12': { vendor: 1_200, destination: 1_200 },
    },
  };
  const text = renderReport({ ...report, people });
  expect(text).toContain(
    `
    Unique users by month (UTC)
      month    vendor  destination  difference
      2023-11     900          903           3
      2023-12   1,200        1,200           0`.replaceAll('\n    ', '\n'),
  );
  expect(text).toContain(
    'Set apart by: 1 shared_device, 2 several_users, 1 no_user, 1 records\n  no_identity.',
  );
  expect(text).toContain('By hand: a $merge_dangerously event');
});

import { expect, test } from 'vitest';
import { buildReport } from '../../../src/migrations/report/build-report.ts';
import { ReceiptTotals } from '../../../src/migrations/report/receipt-totals.ts';
import { report } from '../../../src/migrations/report/report.ts';
import { delivered, finishedInput, makeReceipt, rejected } from './sample-receipts.ts';

test('adds the receipts up, by file, day, event and reason', () => {
  const built = buildReport(finishedInput());
  expect(report.parse(JSON.parse(JSON.stringify(built)))).toEqual(built);
  expect(built).toMatchObject({
    balanced: true,
    problems: [],
    counts: { read: 1_206, delivered: 1_203, skipped: 1, duplicate: 1, rejected: 1 },
    events: { sent: 1_203, accepted: 1_203, synthetic: 6 },
    byFile: [{ file: 'export.zip', parts: 2, counts: { read: 1_206 } }],
    byDay: { '2023-11-06': { read: 1_204 }, unknown: { read: 2 } },
    byEvent: { $pageview: { read: 1_201, delivered: 1_200, duplicate: 1 } },
    byReason: { no_identity: 1, repeated: 1, session_marker: 1 },
    people: {
      pairs: 2,
      setAside: { shared_device: 1 },
      events: { sent: 7, accepted: 6 },
      refusedCount: 1,
      refused: [{ distinctId: 'u1' }],
    },
    unfinished: { parts: 0, partSample: [], files: [], failures: [], people: false },
  });
  expect(built.rejectedShare).toBeCloseTo(1 / 1_206, 10);
});

test('a receipt listed twice counts once', () => {
  const input = finishedInput();
  const before = buildReport(input);
  input.totals.add(makeReceipt('f1/00000', 'export.zip', delivered('$pageview', 1_201)));
  expect(buildReport(input)).toEqual(before);
});

test('a part that lost a record on the way does not balance', () => {
  const input = finishedInput();
  const built = buildReport({
    ...input,
    parts: [
      { id: 'f1/00000', records: 1_202 },
      { id: 'f1/00001', records: 5 },
    ],
  });
  expect(built.balanced).toBe(false);
  expect(built.problems).toEqual(['part f1/00000 holds 1202 records, its receipt counts 1201']);
});

test('a file whose parts do not hold all of its records does not balance', () => {
  const built = buildReport({
    ...finishedInput(),
    stagedFiles: [{ fileId: 'f1', file: 'export.zip', parts: 2, records: 1_207 }],
  });
  expect(built.problems).toEqual(['export.zip holds 1207 records, its receipts count 1206']);
});

test('a part that is neither described nor imported does not balance, however many wait for their turn', () => {
  const input = finishedInput();
  const lost = (parts: number) => ({
    ...input,
    parts: [...input.parts, { id: 'f1/00003', records: 4 }],
    stagedFiles: [{ fileId: 'f1', file: 'export.zip', parts, records: 1_220 }],
  });
  expect(buildReport(lost(3))).toMatchObject({ balanced: true, unfinished: { parts: 1 } });
  expect(buildReport(lost(4)).problems).toEqual([
    expect.stringMatching(/^export.zip has 4 parts, and 1 of them are lost: .* resume with the source/),
  ]);
  const nothingDone = {
    ...input,
    totals: new ReceiptTotals(),
    parts: [{ id: 'f1/00000', records: 1_201 }],
  };
  expect(buildReport(nothingDone)).toMatchObject({ balanced: false, unfinished: { parts: 1 } });
});

test('a receipt whose part is not described does not balance', () => {
  const input = finishedInput();
  expect(buildReport({ ...input, parts: [...input.parts].slice(0, 1) }).problems).toEqual([
    expect.stringMatching(
      /^part f1\/00001 has a receipt, and its description is gone; resume with the source/,
    ),
  ]);
});

test('several lost descriptions of a group of files are restored, not staged again', () => {
  const input = { ...finishedInput(), parts: [] };
  for (const problem of buildReport(input).problems) expect(problem).toContain('resume with the source');
  const stagedFiles = [...input.stagedFiles].map((slice) => ({ ...slice, files: [] }));
  const problems = buildReport({ ...input, stagedFiles }).problems.filter((each) => each.startsWith('part'));
  expect(problems).toHaveLength(2);
  for (const problem of problems)
    expect(problem).toMatch(
      /description is gone; restore the folder parts\/ of the migration from a backup$/,
    );
});

test('an object that a receipt names and that is lost does not balance', () => {
  expect(buildReport({ ...finishedInput(), lostObjects: ['shop/rejects/x is gone'] })).toMatchObject({
    balanced: false,
    problems: ['shop/rejects/x is gone'],
  });
});

test('what is unfinished at the end of a run balances only where a failure explains it', () => {
  const input = {
    ...finishedInput(),
    parts: [...finishedInput().parts, { id: 'f1/00002', records: 9 }],
    stagedFiles: [],
    unstagedFiles: ['late.zip'],
  };
  expect(buildReport({ ...input, isOver: true }).problems).toEqual([
    'part f1/00002 was not imported to its end, and no job reported why',
    'late.zip was not staged to its end, and no job reported why',
  ]);
  const failures = [{ what: 'import-part f1/00002', reason: 'gone' }];
  expect(buildReport({ ...input, isOver: true, failures }).balanced).toBe(true);
  expect(buildReport(input).balanced).toBe(true);
});

test('receipts of several mappings do not pass for one migration', () => {
  const input = finishedInput();
  const { totals } = input;
  totals.add({ ...makeReceipt('f2/00000', 'late.zip', delivered('a', 1)), mapping: 'amplitude@2' });
  const built = buildReport({ ...input, parts: [...input.parts, { id: 'f2/00000', records: 1 }] });
  expect(built.balanced).toBe(false);
  expect(built.problems).toEqual([
    'the receipts come from several mappings (amplitude@1, amplitude@2), a migration has one',
  ]);
});

test('a receipt that contradicts itself does not balance', () => {
  const broken = makeReceipt('f1/00000', 'a.gz', delivered('a', 2));
  const totals = new ReceiptTotals();
  totals.add({ ...broken, tally: { ...broken.tally, counts: { ...broken.tally.counts, delivered: 1 } } });
  const built = buildReport({
    ...finishedInput(),
    totals,
    parts: [{ id: 'f1/00000', records: 2 }],
    stagedFiles: [],
  });
  expect(built.balanced).toBe(false);
  expect(built.problems.join()).toContain('a.gz');
});

test('very many problems are named up to a bound', () => {
  const parts = Array.from({ length: 80 }, (_, number) => ({ id: `f/${number}`, records: 2 }));
  const totals = new ReceiptTotals();
  for (const { id } of parts) totals.add(makeReceipt(id, 'a.gz', delivered('a', 1)));
  const { problems } = buildReport({ ...finishedInput(), totals, parts, stagedFiles: [] });
  expect(problems).toHaveLength(51);
  expect(problems.at(-1)).toBe('… and 30 more');
});

test('halfway through, what is missing is listed and the books balance', () => {
  const { persons: _, ...input } = finishedInput();
  const built = buildReport({
    ...input,
    parts: [...input.parts, { id: 'f1/00002', records: 9 }, { id: 'f2/00000', records: 9 }],
    stagedFiles: [{ fileId: 'f1', file: 'export.zip', parts: 3, records: 1_215 }],
    unstagedFiles: ['late.zip'],
    failures: [{ what: 'stage-file late.zip', reason: 'gone' }],
  });
  expect(built.balanced).toBe(true);
  expect(built.unfinished).toEqual({
    parts: 2,
    partSample: ['f1/00002', 'f2/00000'],
    files: ['late.zip'],
    failures: [{ what: 'stage-file late.zip', reason: 'gone' }],
    people: true,
  });
});

test('a migration of nothing balances', () => {
  const built = buildReport({ ...finishedInput(), totals: new ReceiptTotals(), parts: [], stagedFiles: [] });
  expect(built).toMatchObject({ balanced: true, rejectedShare: 0, counts: { read: 0 } });
});

test('an address gives away neither user, nor password, nor query', () => {
  const destination = 'https://user:hunter2@analytics.example.com/base?token=hunter2#hunter2';
  const built = buildReport({ ...finishedInput(), destination });
  expect(JSON.stringify(built)).not.toContain('hunter2');
  expect(built.destination).toBe('https://analytics.example.com/base');
  expect(buildReport({ ...finishedInput(), destination: 'bundled API' }).destination).toBe('bundled API');
});

test('files come in natural order', () => {
  const totals = new ReceiptTotals();
  for (const name of ['day_10.gz', 'day_9.gz', 'day_1.gz'])
    totals.add(makeReceipt(name, name, [rejected('no_identity')]));
  const { byFile } = buildReport({ ...finishedInput(), totals, parts: [], stagedFiles: [] });
  expect(byFile.map(({ file }) => file)).toEqual(['day_1.gz', 'day_9.gz', 'day_10.gz']);
});

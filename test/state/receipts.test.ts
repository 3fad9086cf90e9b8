import { describe, expect, it } from 'vitest';
import { type Receipt, receipt as receiptSchema } from '../../src/contract/progress.ts';
import { TallyBuilder } from '../../src/pipeline/tally.ts';
import { findReceiptFault } from '../../src/state/receipts.ts';

const PART = 'abc/00000';

function makeReceipt(more: Partial<Receipt> = {}): Receipt {
  const tally = new TallyBuilder();
  const counted = { day: '2024-01-01', event: 'a' };
  tally.addOutcome({ ...counted, outcome: 'delivered' });
  tally.addOutcome({ ...counted, outcome: 'rejected', reason: 'refused' });
  return {
    part: PART,
    file: 'a.csv',
    mapping: 'csv@1',
    tally: tally.build(),
    rejectSegments: [{ key: `shop/rejects/${PART}/1-1-2.ndjson.gz`, bytes: 99, records: 1 }],
    findings: { key: `shop/findings/${PART}/1-1-2.gz`, sections: [] },
    ...more,
  };
}

const find = (more: Partial<Receipt> = {}) => findReceiptFault(makeReceipt(more), 'shop', PART);

describe('a receipt', () => {
  it('is believed when part, sums and the keys that it names agree with its own key', () => {
    expect(find()).toBeUndefined();
    expect(find({ rejectSegments: [{ key: `shop/rejects/${PART}/1-1-2.ndjson.gz` }] })).toBeUndefined();
  });

  it('is not believed under the key of another part', () => {
    expect(find({ part: 'abc/00001' })).toBe('is the receipt of part abc/00001');
    expect(findReceiptFault(makeReceipt(), 'shop', 'abc/0000')).toBe(`is the receipt of part ${PART}`);
  });

  it('is not believed when its outcomes do not add up', () => {
    const { tally } = makeReceipt();
    const counts = { ...tally.counts, read: 3 };
    expect(find({ tally: { ...tally, counts } })).toBe('counts outcomes that do not add up to its 3 records');
  });

  it.each([0, 2])('is not believed when it counts 1 rejected record and names %i', (records) => {
    const segment = { key: `shop/rejects/${PART}/1-1-2.ndjson.gz`, bytes: 99, records };
    expect(find({ rejectSegments: [segment] })).toBe(`counts 1 rejected records and names ${records}`);
  });

  it('is not believed when it counts a rejected record and names none', () => {
    expect(find({ rejectSegments: [] })).toBe('counts 1 rejected records and names 0');
  });

  it('is not believed when it names objects of another part or migration', () => {
    const rejects = { key: 'shop/rejects/abc/00001/1-1-2.ndjson.gz', bytes: 99, records: 1 };
    expect(find({ rejectSegments: [rejects] })).toBe(`names ${rejects.key}, which belongs to another part`);
    const findings = { key: `shoe/findings/${PART}/1-1-2.gz`, sections: [] };
    expect(find({ findings })).toBe(`names ${findings.key}, which belongs to another part`);
  });

  it('of version 0.1.0 names its reject segments by key alone', () => {
    const key = `shop/rejects/${PART}/1-1-2.ndjson.gz`;
    expect(receiptSchema.parse({ ...makeReceipt(), rejectSegments: [key] }).rejectSegments).toEqual([
      { key },
    ]);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Receipt, receipt as receiptSchema } from '../../src/contract/progress.ts';
import { FencedOutError } from '../../src/lib/errors.ts';
import { TallyBuilder } from '../../src/pipeline/tally.ts';
import { createMigration } from '../../src/state/migrations.ts';
import { createPartStore } from '../../src/state/part-store.ts';
import { createReceipt, findReceiptFault } from '../../src/state/receipts.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

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

describe('the receipt of a part', () => {
  const { findings: _, ...base } = makeReceipt({ rejectSegments: [] });
  const { counts } = base.tally;
  const clean = { ...base, tally: { ...base.tally, counts: { ...counts, delivered: 2, rejected: 0 } } };

  async function openStore(id: string) {
    const folder = await mkdtemp(join(tmpdir(), 'receipts-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const staging = createFolderStaging(folder);
    return { staging, store: createPartStore(staging, { name: 'shop', id }) };
  }

  it('is created once: the first one counts', async () => {
    const { store } = await openStore('one');
    const first = await store.createReceipt(clean);
    expect(await store.createReceipt({ ...clean, mapping: 'csv@2' })).toEqual(first);
    expect(await store.loadReceipt(PART)).toEqual(first);
  });

  it('is not that of a removed migration of the same name, whose worker woke up late', async () => {
    const { staging, store } = await openStore('one');
    await createPartStore(staging, { name: 'shop', id: 'removed' }).createReceipt(clean);
    expect(await store.loadReceipt(PART)).toBeUndefined();
    const own = await store.createReceipt({ ...clean, mapping: 'csv@2' });
    expect(own).toMatchObject({ migration: 'one', mapping: 'csv@2' });
    expect(await store.loadReceipt(PART)).toEqual(own);
  });

  it('is left alone by the worker of a removed migration of the same name that wakes up late', async () => {
    const { staging, store } = await openStore('one');
    await createMigration(staging, {
      ...{ id: 'one', name: 'shop', identity: {}, identitySha256: '', mapping: 'jsonl@1' },
      ...{
        destination: 'http://service.test',
        files: [],
        createdAt: '',
        opening: { manifest: {}, baseDir: '/' },
      },
    });
    const own = await store.createReceipt(clean);
    const late = createPartStore(staging, { name: 'shop', id: 'removed' }).createReceipt(clean);
    await expect(late).rejects.toThrow(FencedOutError);
    expect(await store.loadReceipt(PART)).toEqual(own);
  });

  it('of an earlier version is believed, which did not name its migration', async () => {
    const { staging, store } = await openStore('one');
    await createReceipt(staging, 'shop', clean);
    expect(await store.loadReceipt(PART)).toEqual(clean);
    expect(await store.createReceipt(clean)).toEqual(clean);
  });
});
